"""PrecisionDebugger for MindSpore and MSAdapter, and dumping a single module."""

from typing import Any

from msprobe.debugger import BaseDebugger
from msprobe.errors import MsprobeError
from msprobe.mindspore.framework import MindSporeFramework


class PrecisionDebugger(BaseDebugger):
    __doc__ = BaseDebugger.__doc__
    framework = MindSporeFramework()

    def __init__(self, *args: Any, **kwargs: Any):
        self.framework.look_for_torch()
        super().__init__(*args, **kwargs)


def module_dump(module: Any, dump_name: str) -> None:
    """Records the modules below `module` from here on, as if it were called `dump_name`.

    Needs a PrecisionDebugger that has been started; ends with module_dump_end() or the step.
    """
    debugger = PrecisionDebugger._instance
    if not PrecisionDebugger.framework.is_model(module):
        raise MsprobeError("module_dump() needs a Cell or a Module")
    if not isinstance(dump_name, str) or not dump_name:
        raise MsprobeError("module_dump() needs a name that is a text and not empty")
    if debugger is None:
        raise MsprobeError("module_dump() needs a PrecisionDebugger, construct one first")
    debugger._session.module_dump(module, dump_name)


def module_dump_end() -> None:
    """Ends what module_dump() began."""
    debugger = PrecisionDebugger._instance
    if debugger is None:
        raise MsprobeError("module_dump_end() needs a PrecisionDebugger, construct one first")
    debugger._session.module_dump_end()
