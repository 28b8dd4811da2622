"""Whether the program is a PyTorch program that runs on MindSpore."""

import sys
from typing import Any, Optional

import mindspore
from mindspore import Parameter

_parameter_types: dict = {Parameter: True}


def torch_module() -> Optional[Any]:
    """torch, where its tensors are MindSpore's; None in plain MindSpore programs."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    if isinstance(tensor, type) and (
        issubclass(tensor, mindspore.Tensor) or issubclass(mindspore.Tensor, tensor)
    ):
        return torch
    return None


def is_parameter(tensor: Any) -> bool:
    """MSAdapter's parameters are not MindSpore's."""
    kind = type(tensor)
    known = _parameter_types.get(kind)
    if known is None:
        torch = torch_module()
        known = issubclass(kind, Parameter) or (
            torch is not None and issubclass(kind, torch.nn.Parameter)
        )
        _parameter_types[kind] = known
    return known
