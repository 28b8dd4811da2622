"""seed_all: the same random numbers, and if wanted the same order of sums, in every run."""

import os
from typing import Any, Optional

import torch
from torch import Tensor

from msprobe.seeding import replace_constructors, replace_functions, seed_python, without_dropout

_FUNCTIONS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d",
              "feature_alpha_dropout")
_MODULES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_ATTENTION = ("scaled_dot_product_attention",)
_RECURRENT = ("RNN", "LSTM", "GRU")


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
        replace_functions(torch.nn.functional, _ATTENTION, _keeping_all)
        replace_constructors(torch.nn, _MODULES, without_dropout)
        replace_constructors(torch.nn, _RECURRENT, _keeping_between_layers)


def _seed_devices(seed: int) -> None:
    for name in ("cuda", "npu"):
        device = getattr(torch, name, None)
        if device is not None and device.is_available():
            device.manual_seed_all(seed)


def _never_training(function: Any) -> Any:
    # With types, and in positions: TorchScript compiles it.
    def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        return function(input, p, False, inplace)

    return dropout


def _keeping_all(function: Any) -> Any:
    # Compiled by TorchScript as well: no more arguments than the function of this torch has.
    if "enable_gqa" not in (function.__doc__ or ""):

        def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None,
                      dropout_p: float = 0.0, is_causal: bool = False,
                      scale: Optional[float] = None) -> Tensor:
            return function(query, key, value, attn_mask, 0.0, is_causal, scale=scale)

        return attention

    def grouped_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None,
                          dropout_p: float = 0.0, is_causal: bool = False,
                          scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
        return function(query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa)

    return grouped_attention


def _keeping_between_layers(construct: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        self.dropout = 0.0

    return __init__
