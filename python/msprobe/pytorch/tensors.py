"""How tensors and torch's own values look: for all that the engine cannot read by itself."""

import contextlib
import ctypes
import json
from typing import Any, Optional, Tuple

import torch

from msprobe.values import describe_plain

_STRIDED = torch.strided
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# Stand-ins for tensors that compilers send through the program.
_TRACERS = ("FakeTensor", "FunctionalTensor", "ProxyTensor", "Proxy")

# Inside of vmap and torch.func.grad every result is a wrapper, which has no values to read.
_plainly = getattr(torch._C, "_DisableFuncTorch", contextlib.nullcontext)


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
        sparse = "sparse" in str(tensor.layout)
        return None, None, "it is sparse" if sparse else f"its layout is {tensor.layout}"
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
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        return None if tensor.numel() == 0 else _numbers(_reduced(tensor.detach()))


def _reduced(tensor: Any) -> Tuple:
    """What is read of a tensor's values, on its device: (numbers, exact extremes of integers)."""
    if tensor.dtype.is_complex:
        tensor = tensor.abs()
    wide = torch.float32 if tensor.device.type == "mps" else torch.float64
    values = tensor.to(wide)
    parts = [values.max(), values.min(), values.mean(), values.square().sum().sqrt()]
    if not tensor.dtype.is_floating_point:
        exact = tensor.to(torch.int64)
        return torch.stack(parts), torch.stack([exact.max(), exact.min()])
    parts += [values.isnan().sum().to(wide), values.isinf().sum().to(wide)]
    return torch.stack(parts), None


def _numbers(reduced: Tuple) -> Tuple:
    numbers, exact = reduced
    if exact is None:
        return tuple(numbers.tolist())
    return (*exact.tolist(), *numbers.tolist()[2:], 0, 0)


def fetch(tensor: Any) -> Any:
    """A buffer with the values in C order."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        return _buffer(tensor.detach().resolve_conj().resolve_neg().cpu().contiguous())


def _buffer(here: Any) -> Any:
    size = here.numel() * here.element_size()
    if size == 0:
        return b""
    buffer = (ctypes.c_ubyte * size).from_address(here.data_ptr())
    buffer.tensor = here  # whose memory it is
    return buffer


_started_on = set()  # devices that have not been waited for


def start(tensor: Any, reduce: bool, copy: bool) -> Tuple:
    """Queues on the tensor's device what reduces and copies it; later calls on it come after that.

    Gives (reduced or None, copy or None): tensors in this machine's memory that hold their values
    after wait().
    """
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        tensor = tensor.detach()
        _started_on.add(tensor.device)
        reduced = copied = None
        if reduce:
            reduced = tuple(None if part is None else _sent(part) for part in _reduced(tensor))
        if copy:
            copied = _sent(tensor.resolve_conj().resolve_neg().contiguous())
        return reduced, copied


def _synchronize(device: Any) -> Any:
    return getattr(getattr(torch, device.type, None), "synchronize", None)


def _sent(tensor: Any) -> Any:
    """A copy in pinned memory; there at once from devices that cannot be waited for."""
    return tensor.to("cpu", non_blocking=_synchronize(tensor.device) is not None, copy=True)


def wait() -> None:
    # Waiting lets other threads run, and they start more.
    devices = [_started_on.pop() for _ in range(len(_started_on))]
    for device in devices:
        synchronize = _synchronize(device)
        if synchronize is not None and device.type != "cpu":
            synchronize(*([] if device.type == "mps" else [device]))


def started_summary(handle: Tuple) -> Tuple:
    return _numbers(handle[0])


def started_buffer(handle: Tuple) -> Any:
    return _buffer(handle[1])


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
        return "torch.distributed.P2POp", json.dumps(
            {"op": operation, "peer": value.peer, "tag": value.tag, **_group(value.group)})
    if type(value).__name__ in ("ReduceOp", "RedOpType"):
        return "torch.distributed.ReduceOp", json.dumps(str(getattr(value, "op", value)))
    return None


def holders() -> dict:
    """Types whose objects are recorded with a tensor of theirs: {type: the attribute's name}."""
    dist = torch.distributed
    return {dist.P2POp: "tensor"} if dist.is_available() else {}


def _group(group: Any) -> dict:
    dist = torch.distributed
    group = dist.group.WORLD if group is None else group
    try:
        ranks = dist.get_process_group_ranks(group)
    except (RuntimeError, ValueError, KeyError):
        ranks = []
    return {"group_ranks": ranks, "group_id": getattr(group, "group_name", "")}
