"""PrecisionDebugger for MindSpore and MSAdapter, and dumping a single module."""

from typing import Any

from msprobe.debugger import BaseDebugger, module_dump_functions
from msprobe.mindspore.framework import MindSporeFramework


class PrecisionDebugger(BaseDebugger):
    __doc__ = BaseDebugger.__doc__
    framework = MindSporeFramework()

    def __init__(self, *args: Any, **kwargs: Any):
        self.framework.look_for_torch()
        super().__init__(*args, **kwargs)


module_dump, module_dump_end = module_dump_functions(PrecisionDebugger)
