"""seed_all: the same random numbers, and if wanted the same order of sums, in every run."""

import os
import random

import torch

from msprobe.errors import MsprobeError

_DROPOUTS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d",
             "feature_alpha_dropout")


def seed_all(seed: int = 1234, mode: bool = False, rm_dropout: bool = False) -> None:
    """Seeds Python, NumPy and torch. `mode`: deterministic algorithms and collectives.

    `rm_dropout`: dropout becomes identity, in modules made after the call and in functions at once.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= 2**32 - 1:
        raise MsprobeError(f"seed is {seed}, allowed are whole numbers from 0 to 4294967295")
    for name, value in (("mode", mode), ("rm_dropout", rm_dropout)):
        if not isinstance(value, bool):
            raise MsprobeError(f"{name} is {value}, allowed are True and False")
    os.environ["PYTHONHASHSEED"] = str(seed)  # for processes that are started from here
    random.seed(seed)
    try:
        import numpy
    except ImportError:
        pass
    else:
        numpy.random.seed(seed)
    torch.manual_seed(seed)
    _seed_devices(seed)
    if mode:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        os.environ["HCCL_DETERMINISTIC"] = "true"
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True)
    if rm_dropout:
        _remove_dropout()


def _seed_devices(seed: int) -> None:
    for name in ("cuda", "npu"):
        device = getattr(torch, name, None)
        if device is not None and device.is_available():
            device.manual_seed_all(seed)


def _remove_dropout() -> None:
    functional = torch.nn.functional
    for name in _DROPOUTS:
        function = getattr(functional, name, None)
        if function is None or getattr(function, "_msprobe_identity", False):
            continue
        setattr(functional, name, _identity(function))
    for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout",
                 "FeatureAlphaDropout"):
        _make_new_ones_identity(getattr(torch.nn, name))


def _identity(function):
    def dropout(input, p=0.5, training=True, inplace=False):
        return function(input, p, False, inplace)

    dropout.__name__, dropout.__doc__ = function.__name__, function.__doc__
    dropout._msprobe_identity = True
    return dropout


def _make_new_ones_identity(dropout) -> None:
    if getattr(dropout, "_msprobe_identity", False):
        return
    construct = dropout.__init__

    def __init__(self, *args, **kwargs):
        construct(self, *args, **kwargs)
        self.p = 0.0

    dropout.__init__ = __init__
    dropout._msprobe_identity = True
