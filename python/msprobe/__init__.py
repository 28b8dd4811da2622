"""msprobe finds where a model's numbers go apart.

Collecting: import the half for your framework, ``from msprobe.pytorch import PrecisionDebugger``.
Comparing: ``msprobe.compare(target, golden)``, ``msprobe.load_dump(directory)``.
"""

from msprobe.comparing import Comparison, Dump, compare, load_dump
from msprobe.errors import MsprobeError

__version__ = "0.1.0"
__all__ = ["Comparison", "Dump", "MsprobeError", "__version__", "compare", "load_dump"]
