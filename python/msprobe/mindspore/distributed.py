"""Ranks, and the handles of asynchronous collectives."""

from typing import Any, Optional

from mindspore.communication import GlobalComm, get_rank

from msprobe import _core
from msprobe.class_tree import subclasses
from msprobe.trampoline import make_trampoline


def rank() -> Optional[int]:
    if not GlobalComm.INITED:
        return None
    try:
        return get_rank()
    except RuntimeError:
        return None


def watch_handles(patches: Any) -> None:
    """A record of an asynchronous collective is complete when its handle has been waited for."""
    try:
        from mindspore._c_expression import CommHandle
    except ImportError:
        return
    _core.set_waitable(CommHandle)
    # What functions give back is of a subclass, which holds another handle.
    for kind in (CommHandle, *subclasses(CommHandle)):
        wait = kind.__dict__.get("wait")
        if wait is not None and not patches.add(wait, "wait", "", make_trampoline):
            patches.add_attribute(kind, "wait", "wait", "")
