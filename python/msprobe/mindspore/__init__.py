"""Collects from MindSpore (PyNative), and from PyTorch programs on it (MSAdapter).

Import torch before this module where torch is the one of MSAdapter.
"""

from msprobe.errors import MsprobeError
from msprobe.mindspore.debugger import PrecisionDebugger, module_dump, module_dump_end
from msprobe.mindspore.seed import seed_all

__all__ = ["MsprobeError", "PrecisionDebugger", "module_dump", "module_dump_end", "seed_all"]
