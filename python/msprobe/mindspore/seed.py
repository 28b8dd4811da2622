"""seed_all: the same random numbers, and if wanted the same order of sums, in every run."""

import os
import random
from typing import Any

import mindspore
import numpy

from msprobe.errors import MsprobeError
from msprobe.mindspore.adapter import torch_module


def seed_all(seed: int = 1234, mode: bool = False, rm_dropout: bool = False) -> None:
    """Seeds Python, NumPy and MindSpore. `mode`: deterministic operators and collectives.

    `rm_dropout`: dropout becomes identity, in objects made after the call and in functions at once.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= 2**32 - 1:
        raise MsprobeError(f"seed is {seed}, allowed are whole numbers from 0 to 4294967295")
    for name, value in (("mode", mode), ("rm_dropout", rm_dropout)):
        if not isinstance(value, bool):
            raise MsprobeError(f"{name} is {value}, allowed are True and False")
    os.environ["PYTHONHASHSEED"] = str(seed)  # for processes that are started from here
    random.seed(seed)
    numpy.random.seed(seed)
    mindspore.set_seed(seed)
    torch = torch_module()
    if torch is not None:
        torch.manual_seed(seed)
    mindspore.manual_seed(seed)
    if mode:
        mindspore.set_context(deterministic="ON")
        os.environ["HCCL_DETERMINISTIC"] = "true"
    if rm_dropout:
        _remove_dropout(torch)


def _remove_dropout(torch: Any) -> None:
    from mindspore import mint, nn, ops

    for name in ("Dropout", "Dropout2D", "Dropout3D"):
        _make_new_operators_identity(getattr(ops, name))
    owners = [nn, mint.nn] + ([torch.nn] if torch is not None else [])
    for owner in owners:
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"):
            _make_new_modules_identity(getattr(owner, name, None))
    owners = [ops, mint.nn.functional]
    owners += [torch.nn.functional, torch] if torch is not None else []
    for owner in owners:
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
            _make_identity(owner, name)


def _make_new_operators_identity(dropout: Any) -> None:
    construct = dropout.__init__
    if getattr(construct, "_msprobe_identity", False):
        return

    def __init__(self: Any, keep_prob: float = 0.5, *args: Any, **kwargs: Any) -> None:
        construct(self, 1.0, *args, **kwargs)

    __init__._msprobe_identity = True
    dropout.__init__ = __init__


def _make_new_modules_identity(dropout: Any) -> None:
    construct = getattr(dropout, "__init__", None)
    if dropout is None or getattr(construct, "_msprobe_identity", False):
        return

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        self.p = 0.0
        if hasattr(self, "keep_prob"):
            self.keep_prob = 1.0

    __init__._msprobe_identity = True
    dropout.__init__ = __init__


def _make_identity(owner: Any, name: str) -> None:
    function = getattr(owner, name, None)
    if function is None or getattr(function, "_msprobe_identity", False):
        return

    def dropout(input: Any, *args: Any, **kwargs: Any) -> Any:
        return input

    dropout.__name__, dropout.__doc__ = name, function.__doc__
    dropout._msprobe_identity = True
    setattr(owner, name, dropout)
