"""What the process asks for: the engine is set up once, writers are waited for, the end is told."""

import atexit
import multiprocessing
import os
import threading
import time
from typing import Any, Callable, Optional

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


def wait_for(writer: Any) -> None:
    """Until all that `writer` was given is on the disk."""
    if threading.current_thread() is threading.main_thread():
        while not writer.finish_within(seconds=0.1):  # between which signals come through
            pass
    # Python ends a thread that waits in an extension when the program ends by unwinding its stack,
    # which C++ takes for a fault. One that sleeps in Python is ended without harm.
    while not writer.finish_within(seconds=0):
        time.sleep(0.001)
