"""PrecisionDebugger for PyTorch, and dumping a single module."""

from typing import Any

import torch

from msprobe.debugger import BaseDebugger
from msprobe.errors import MsprobeError
from msprobe.pytorch.framework import TorchFramework


class PrecisionDebugger(BaseDebugger):
    __doc__ = BaseDebugger.__doc__
    framework = TorchFramework()


def module_dump(module: Any, dump_name: str) -> None:
    """Records the modules below `module` from here on, as if it were called `dump_name`.

    Needs a PrecisionDebugger that has been started; ends with module_dump_end() or the step.
    """
    if not isinstance(module, torch.nn.Module):
        raise MsprobeError("module_dump() needs a torch.nn.Module")
    if not isinstance(dump_name, str) or not dump_name:
        raise MsprobeError("module_dump() needs a name that is a text and not empty")
    debugger = PrecisionDebugger._instance
    if debugger is None:
        raise MsprobeError("module_dump() needs a PrecisionDebugger, construct one first")
    debugger._session.module_dump(module, dump_name)


def module_dump_end() -> None:
    """Ends what module_dump() began."""
    debugger = PrecisionDebugger._instance
    if debugger is None:
        raise MsprobeError("module_dump_end() needs a PrecisionDebugger, construct one first")
    debugger._session.module_dump_end()
