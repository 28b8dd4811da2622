"""PrecisionDebugger for PyTorch, and dumping a single module."""

from msprobe.debugger import BaseDebugger, module_dump_functions
from msprobe.pytorch.framework import TorchFramework


class PrecisionDebugger(BaseDebugger):
    __doc__ = BaseDebugger.__doc__
    framework = TorchFramework()


module_dump, module_dump_end = module_dump_functions(PrecisionDebugger)
