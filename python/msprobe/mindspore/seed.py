"""seed_all: the same random numbers, and if wanted the same order of sums, in every run."""

import os
from typing import Any

import mindspore

from msprobe.mindspore.tensors import torch_module
from msprobe.seeding import replace_constructors, replace_functions, seed_python, without_dropout

_OPERATORS = ("Dropout", "Dropout2D", "Dropout3D")
_FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
_MODULES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")


def seed_all(seed: int = 1234, mode: bool = False, rm_dropout: bool = False) -> None:
    """Seeds Python, NumPy and MindSpore. `mode`: deterministic operators and collectives.

    `rm_dropout`: dropout becomes identity, in objects made after the call and in functions at once.
    """
    seed_python(seed, mode, rm_dropout)
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

    replace_constructors(ops, _OPERATORS, _keeping_all)
    for owner in [nn, mint.nn] + ([torch.nn] if torch is not None else []):
        replace_constructors(owner, _MODULES, without_dropout)
    owners = [ops, mint.nn.functional]
    for owner in owners + ([torch.nn.functional, torch] if torch is not None else []):
        replace_functions(owner, _FUNCTIONS, _identity)


def _keeping_all(construct: Any) -> Any:
    def __init__(self: Any, keep_prob: float = 0.5, *args: Any, **kwargs: Any) -> None:
        construct(self, 1.0, *args, **kwargs)

    return __init__


def _identity(function: Any) -> Any:
    def dropout(input: Any, *args: Any, **kwargs: Any) -> Any:
        return input

    return dropout
