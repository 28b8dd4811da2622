"""How tensors and torch's own values look: for all that the engine cannot read by itself."""

import contextlib
import ctypes
import json
import math
from typing import Any, Iterator, List, Optional, Tuple

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
        tensor = _values_of(tensor)
        try:
            shape = tuple(int(extent) for extent in tensor.shape)
        except Exception:  # nested tensors have none, compilers' ones are not known yet
            return kind, dtype, None, (), None, requires_grad, "its shape is not known"
        address, strides, reason = _place(tensor)
    return kind, dtype, address, shape, strides, requires_grad, reason


def _values_of(tensor: Any) -> Any:
    """The part of a DTensor that is on this rank: its memory, which no collective has to bring here
    (to_local() may wait for one, and makes a view that autograd knows).
    """
    if type(tensor).__name__ == "DTensor":
        tensor = getattr(tensor, "_local_tensor", tensor)
    if type(tensor).__name__ == "AsyncCollectiveTensor" and getattr(tensor, "completed", False):
        tensor = tensor.elem
    return tensor


def _place(tensor: Any) -> Tuple[Optional[int], Optional[tuple], Optional[str]]:
    if type(tensor).__name__ == "AsyncCollectiveTensor":
        return None, None, "a collective is still computing it"
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


_devices = set()  # that values have been read from
_CAPTURED = "it is on a device where a graph is being captured, which computes nothing yet"


def _captures(device: Any) -> bool:
    """Whether the program captures a graph there (torch.cuda.graph): what is called only becomes a part
    of the graph, ours as well, and whoever waits for the device ends the capture with an error.
    """
    asks = getattr(getattr(torch, device.type, None), "is_current_stream_capturing", None)
    return asks is not None and asks()


def summarize(tensor: Any) -> Any:
    """(max, min, mean, norm, number of NaN, number of infinite values), computed on the device; or why not."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        if _captures(tensor.device):
            return _CAPTURED
        _devices.add(tensor.device)
        return _numbers(_reduced(_values_of(tensor).detach()))


# Of a larger tensor so many elements are widened at once: as a whole it may have left no memory for that.
_PIECE = 1 << 24


def _reduced(tensor: Any) -> Tuple:
    """What is read of a tensor's values, on its device: (numbers, exact extremes of integers), and on this
    side (number of elements, what is to be added to the exact extremes).
    """
    is_exact = not (tensor.dtype.is_floating_point or tensor.dtype.is_complex)
    pieces = [_sums(piece) for piece in _pieces(tensor)]
    parts = pieces[0]
    if len(pieces) > 1:
        over_all = ["max", "min", "sum", "sum", *(("max", "min") if is_exact else ("sum", "sum"))]
        parts = [getattr(torch.stack(part), name)() for name, part in zip(over_all, zip(*pieces))]
    if not is_exact:
        return torch.stack(parts), None, tensor.numel(), 0
    return torch.stack(parts[:4]), torch.stack(parts[4:]), tensor.numel(), _SHIFTS.get(tensor.dtype, 0)


# int64 holds these in their order when they are shifted.
_SHIFTS = {torch.uint64: 1 << 63} if hasattr(torch, "uint64") else {}


def _sums(tensor: Any) -> List[Any]:
    """Max, min, sum, sum of squares; then the numbers of NaN and of infinite values, or max and min of
    integers.
    """
    if tensor.dtype.is_complex:
        tensor = tensor.abs()
    wide = torch.float32 if tensor.device.type == "mps" else torch.float64
    values = tensor.to(wide)
    parts = [values.max(), values.min(), values.sum(), values.square().sum()]
    if tensor.dtype.is_floating_point:
        return parts + [values.isnan().sum().to(wide), values.isinf().sum().to(wide)]
    exact = tensor.view(torch.int64) ^ -(1 << 63) if tensor.dtype in _SHIFTS else tensor.to(torch.int64)
    return parts + [exact.max(), exact.min()]


def _pieces(tensor: Any) -> Iterator[Any]:
    """Parts of it, none of them copied."""
    if tensor.numel() <= _PIECE:
        yield tensor
        return
    longest = max(range(tensor.dim()), key=lambda dim: tensor.shape[dim])
    length = max(1, tensor.shape[longest] * _PIECE // tensor.numel())
    for part in tensor.split(length, longest):
        yield from _pieces(part)


def _numbers(reduced: Tuple) -> Tuple:
    numbers, exact, count, shift = reduced
    largest, smallest, total, squares, *odd = numbers.tolist()
    rest = (total / count, math.sqrt(squares))
    if exact is None:
        return (largest, smallest, *rest, *odd)
    return (*(extreme + shift for extreme in exact.tolist()), *rest, 0, 0)


def fetch(tensor: Any) -> Any:
    """A buffer with the values in C order, or why there is none."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        if _captures(tensor.device):
            return _CAPTURED
        _devices.add(tensor.device)
        return _buffer(_values_of(tensor).detach().resolve_conj().resolve_neg().cpu().contiguous())


def _buffer(here: Any) -> Any:
    size = here.numel() * here.element_size()
    if size == 0:
        return b""
    buffer = (ctypes.c_ubyte * size).from_address(here.data_ptr())
    buffer.tensor = here  # whose memory it is
    return buffer


_started_on = set()  # devices that have not been waited for


def start(tensor: Any, reduce: bool, copy: bool) -> Optional[Tuple]:
    """Queues on the tensor's device what reduces and copies it; later calls on it come after that.

    Gives (reduced or None, copy or None): tensors in this machine's memory that hold their values
    after wait(). None: nothing can be queued.
    """
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _plainly():
        if _captures(tensor.device):
            return None
        tensor = _values_of(tensor).detach()
        _devices.add(tensor.device)
        _started_on.add(tensor.device)
        reduced = copied = None
        if reduce:
            numbers, exact, *here = _reduced(tensor)
            reduced = (_sent(numbers), None if exact is None else _sent(exact), *here)
        if copy:
            copied = _sent(tensor.resolve_conj().resolve_neg().contiguous())
        return reduced, copied


def _synchronize(device: Any) -> Any:
    return getattr(getattr(torch, device.type, None), "synchronize", None)


def _sent(tensor: Any) -> Any:
    """A copy in pinned memory; there at once from devices that cannot be waited for."""
    return tensor.to("cpu", non_blocking=_synchronize(tensor.device) is not None, copy=True)


def _wait_for(device: Any) -> None:
    synchronize = _synchronize(device)
    if synchronize is not None and device.type != "cpu":
        synchronize(*([] if device.type == "mps" else [device]))


def wait() -> bool:
    """False: a graph is being captured, so not now."""
    if any(_captures(device) for device in list(_started_on)):
        return False
    # Waiting lets other threads run, and they start more.
    devices = [_started_on.pop() for _ in range(len(_started_on))]
    for device in devices:
        _wait_for(device)
    return True


def _devices_in_use() -> set:
    """Those that the program works on, also where no value of theirs has been read."""
    in_use = set()
    for name in ("cuda", "npu"):
        backend = getattr(torch, name, None)
        if backend is not None and backend.is_initialized():
            in_use.add(torch.device(name, backend.current_device()))
    return in_use


def await_copy(tensor: Any) -> Optional[str]:
    """What is copied to pinned memory may arrive after the call that copies it (non_blocking=True). Gives
    why its values cannot be read.
    """
    with torch._C.DisableTorchFunctionSubclass():
        if not _values_of(tensor).is_pinned():
            return None
    for device in _devices | _devices_in_use():
        if _captures(device):
            return _CAPTURED
        _wait_for(device)
    return None


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
