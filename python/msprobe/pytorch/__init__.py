"""Collects from PyTorch."""

from msprobe.errors import MsprobeError
from msprobe.pytorch.debugger import PrecisionDebugger, module_dump, module_dump_end
from msprobe.pytorch.seed import seed_all

__all__ = ["MsprobeError", "PrecisionDebugger", "module_dump", "module_dump_end", "seed_all"]
