"""msprobe finds where a model's numbers go apart: this package collects them.

Import the half for your framework: ``from msprobe.pytorch import PrecisionDebugger``.
"""

from msprobe.errors import MsprobeError

__version__ = "0.1.0"
__all__ = ["MsprobeError", "__version__"]
