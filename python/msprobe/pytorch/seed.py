"""seed_all: the same random numbers, and if wanted the same order of sums, in every run."""

import os
from typing import Any

import torch

from msprobe.seeding import replace_constructors, replace_functions, seed_python, without_dropout

_FUNCTIONS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d",
              "feature_alpha_dropout")
_MODULES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


def seed_all(seed: int = 1234, mode: bool = False, rm_dropout: bool = False) -> None:
    """Seeds Python, NumPy and torch. `mode`: deterministic algorithms and collectives.

    `rm_dropout`: dropout becomes identity, in modules made after the call and in functions at once.
    """
    seed_python(seed, mode, rm_dropout)
    torch.manual_seed(seed)
    _seed_devices(seed)
    if mode:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        os.environ["HCCL_DETERMINISTIC"] = "true"
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True)
    if rm_dropout:
        replace_functions(torch.nn.functional, _FUNCTIONS, _never_training)
        replace_constructors(torch.nn, _MODULES, without_dropout)


def _seed_devices(seed: int) -> None:
    for name in ("cuda", "npu"):
        device = getattr(torch, name, None)
        if device is not None and device.is_available():
            device.manual_seed_all(seed)


def _never_training(function: Any) -> Any:
    def dropout(input, p=0.5, training=True, inplace=False):
        return function(input, p, False, inplace)

    return dropout
