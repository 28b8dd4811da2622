"""What is done once a process: the engine is set up, and learns of the end."""

import atexit
import multiprocessing
import os
from typing import Callable, Optional

from msprobe import _core
from msprobe.errors import MsprobeError
from msprobe.framework import Framework
from msprobe.stack_text import format_stack

_set_up_for: Optional[Framework] = None


def set_up(framework: Framework) -> None:
    """The engine learns how the framework's tensors look."""
    global _set_up_for
    if _set_up_for is framework:
        return
    if _set_up_for is not None:
        raise MsprobeError(
            f"This process already collects from {_set_up_for.name}, it cannot collect from "
            f"{framework.name} as well"
        )
    parts = framework.set_up()
    parts["format_stack"] = format_stack
    parts["hidden_directory"] = os.path.dirname(os.path.abspath(__file__)) + os.sep
    _core.set_up(parts)
    _set_up_for = framework
    os.register_at_fork(after_in_child=_core.abandon)


def at_end(function: Callable[[], None]) -> None:
    """`function`, which may be called twice, is called when the process ends."""
    atexit.unregister(function)  # of the process that this one was forked from
    atexit.register(function)
    if multiprocessing.parent_process() is not None:  # a forked one leaves without the above
        from multiprocessing.util import Finalize

        Finalize(None, function, exitpriority=100)  # before the queues and pools of the program
