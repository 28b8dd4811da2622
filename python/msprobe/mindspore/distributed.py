"""Ranks, and the handles of asynchronous collectives."""

from typing import Any, Optional

from mindspore.communication import GlobalComm, get_rank

from msprobe import _core
from msprobe.trampoline import make_trampoline


def rank() -> Optional[int]:
    if not GlobalComm.INITED:
        return None
    try:
        return get_rank()
    except RuntimeError:
        return None


def watch_handles(patches: Any, torch: Optional[Any]) -> None:
    """A record of an asynchronous collective is complete when its handle has been waited for."""
    try:
        from mindspore._c_expression import CommHandle
    except ImportError:
        return
    wait = getattr(CommHandle, "wait", None)
    if wait is None:
        return
    _core.set_waitable(CommHandle)
    if not patches.add(wait, "wait", "", make_trampoline):
        patches.add_attribute(CommHandle, "wait", "wait", "")
