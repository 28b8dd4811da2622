"""How tensors and torch's own values look: for all that the engine cannot read by itself."""

import ctypes
import json
from typing import Any, Optional, Tuple

import torch

from msprobe.values import describe_plain

_STRIDED = torch.strided
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# Stand-ins for tensors that compilers send through the program.
_TRACERS = ("FakeTensor", "FunctionalTensor", "ProxyTensor", "Proxy")


def describe(tensor: Any) -> Tuple:
    """(type, dtype, address | None | -1, shape, strides | None, requires_grad, reason | None)"""
    kind = "torch.Tensor" if type(tensor) in _PLAIN else type(tensor).__name__
    with torch._C.DisableTorchFunctionSubclass():
        dtype = str(tensor.dtype)
        requires_grad = tensor.requires_grad
        try:
            shape = tuple(int(extent) for extent in tensor.shape)
        except Exception:  # nested tensors have none, compilers' ones are not known yet
            return kind, dtype, None, (), None, requires_grad, "its shape is not known"
        address, strides, reason = _place(tensor)
    return kind, dtype, address, shape, strides, requires_grad, reason


def _place(tensor: Any) -> Tuple[Optional[int], Optional[tuple], Optional[str]]:
    if type(tensor).__name__ == "DTensor":
        return None, None, "it is spread over ranks"
    if tensor.layout is not _STRIDED:
        return None, None, "it is sparse"
    if tensor.device.type == "meta" or type(tensor).__name__ in _TRACERS:
        return None, None, None
    if tensor.is_quantized:
        return None, None, "it is quantized"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return None, None, "it is a wrapper of vmap or grad"
    strides = tuple(tensor.stride())
    if tensor.device.type != "cpu" or tensor.is_conj() or tensor.is_neg():
        return -1, strides, None
    try:
        address = tensor.data_ptr()
        needed = sum((n - 1) * s for n, s in zip(tensor.shape, strides)) + 1
        needed = (needed + tensor.storage_offset()) * tensor.element_size()
        missing = tensor.numel() > 0 and tensor.untyped_storage().nbytes() < needed
    except (RuntimeError, NotImplementedError):
        return None, None, "it has no storage"
    if missing or (address == 0 and tensor.numel() > 0):
        return None, None, "it has no storage"
    return address, strides, None


def summarize(tensor: Any) -> Optional[Tuple]:
    """(max, min, mean, norm, number of NaN, number of infinite values), computed on the device."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        tensor = tensor.detach()
        if tensor.numel() == 0:
            return None
        if tensor.dtype.is_complex:
            tensor = tensor.abs()
        wide = torch.float32 if tensor.device.type == "mps" else torch.float64
        values = tensor.to(wide)
        parts = [values.max(), values.min(), values.mean(), values.square().sum().sqrt()]
        if not tensor.dtype.is_floating_point:
            numbers = torch.stack(parts).tolist()
            exact = tensor.to(torch.int64)
            return (*torch.stack([exact.max(), exact.min()]).tolist(), *numbers[2:], 0, 0)
        parts += [values.isnan().sum().to(wide), values.isinf().sum().to(wide)]
        return tuple(torch.stack(parts).tolist())


def fetch(tensor: Any) -> Any:
    """A buffer with the values in C order."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        here = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
        size = here.numel() * here.element_size()
        if size == 0:
            return b""
        buffer = (ctypes.c_ubyte * size).from_address(here.data_ptr())
        buffer.tensor = here  # whose memory it is
        return buffer


def is_tracer(tensor: Any) -> bool:
    return type(tensor).__name__ in _TRACERS


def describe_value(value: Any) -> Optional[Tuple[str, str]]:
    """(type, value as JSON) of what is recorded with a value; None: only the type is."""
    if isinstance(value, torch.Size):
        return "torch.Size", json.dumps([int(extent) for extent in value])
    if isinstance(value, (torch.dtype, torch.device, torch.memory_format, torch.layout)):
        return f"torch.{type(value).__name__}", json.dumps(str(value))
    return describe_plain(value) or _describe_distributed(value)


def _describe_distributed(value: Any) -> Optional[Tuple[str, str]]:
    dist = torch.distributed
    if not dist.is_available():
        return None
    if isinstance(value, dist.ProcessGroup):
        return "torch.ProcessGroup", json.dumps(_group(value))
    if isinstance(value, dist.P2POp):
        operation = getattr(value.op, "__name__", str(value.op))
        return "torch.distributed.P2POp", json.dumps({"op": operation, "peer": value.peer})
    if type(value).__name__ in ("ReduceOp", "RedOpType"):
        return "torch.distributed.ReduceOp", json.dumps(str(getattr(value, "op", value)))
    return None


def _group(group: Any) -> dict:
    dist = torch.distributed
    try:
        ranks = dist.get_process_group_ranks(group)
    except (RuntimeError, ValueError):
        ranks = []
    return {"group_ranks": ranks, "group_id": getattr(group, "group_name", "")}
