"""Ranks, and the handles of asynchronous collectives."""

import sys
from typing import Any, Optional

import torch

from msprobe import _core
from msprobe.trampoline import make_trampoline


def rank() -> Optional[int]:
    dist = torch.distributed
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank()
    return None


def watch_handles(patches: Any) -> None:
    """A record of an asynchronous collective is complete when its handle has been waited for."""
    dist = torch.distributed
    work = getattr(dist, "Work", None) if dist.is_available() else None
    if work is None:
        return
    _core.set_waitable(work)
    patches.add(work.__dict__["wait"], "wait", "", make_trampoline)
    # The wrapper of what a functional collective still computes asks that for its strides, a listed
    # API: its values would be those of a moment in between, others in each run.
    functional = sys.modules.get("torch.distributed._functional_collectives")
    make = vars(getattr(functional, "AsyncCollectiveTensor", object)).get("__new__")
    if isinstance(make, staticmethod):
        patches.add(make.__func__, "quiet", "", make_trampoline)
