"""How MindSpore's tensors and values look."""

import collections
import json
from typing import Any, Optional, Tuple

import mindspore
from mindspore import Tensor, context

from msprobe import _core
from msprobe.mindspore.adapter import is_parameter, torch_module
from msprobe.mindspore.gradients import TensorPy, grad_mode, gradient_functions
from msprobe.values import describe_plain

# dtypes are single objects; to print one costs more than all else here, and MSAdapter changes how
# they are printed.
_SPELLING = {"bfloat16": "BFloat16", "bool_": "Bool", "float8_e4m3fn": "Float8E4M3FN",
             "float8_e5m2": "Float8E5M2", "hifloat8": "HiFloat8"}
_DTYPES = {
    id(getattr(mindspore, name)): _SPELLING.get(name, name.capitalize().replace("Uint", "UInt"))
    for name in (
        "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_"
        " complex64 complex128 int4 float8_e4m3fn float8_e5m2 hifloat8"
    ).split()
    if hasattr(mindspore, name)
}
_BFLOAT16 = mindspore.bfloat16
# MSAdapter puts its own in their place, which run operators.
_shape_of = TensorPy.shape.__get__
_is_contiguous = TensorPy.is_contiguous
_on_cpu: Optional[bool] = None
_known_parameters: set = set()
_held: Any = collections.deque(maxlen=64)  # arrays whose memory is being read


def describe(tensor: Any) -> Tuple:
    """(type, dtype, address | None | -1, shape, strides | None, requires_grad, reason | None)"""
    kind = type(tensor)
    parameter = is_parameter(tensor)
    name = "mindspore.Tensor" if kind is Tensor or parameter else kind.__name__
    data_type = tensor.dtype
    dtype = _DTYPES.get(id(data_type)) or str(data_type)
    shape = tuple(_shape_of(tensor))
    recorded = tensor._has_auto_grad()
    if parameter:
        requires_grad = bool(tensor.requires_grad)
    else:
        asked = gradient_functions.asks_for(tensor)
        if asked is None:
            asked = bool(tensor._requires_grad)
        requires_grad = asked or (recorded and grad_mode())
    if 0 in shape:
        return name, dtype, None, shape, None, requires_grad, None
    if getattr(tensor, "has_init", False):
        return name, dtype, None, shape, None, requires_grad, "it has no values yet"
    return name, dtype, _address(tensor, recorded, parameter), shape, None, requires_grad, None


def _address(tensor: Any, recorded: bool, parameter: bool) -> int:
    """Of the values in C order; -1: they have to be fetched."""
    global _on_cpu
    if _on_cpu is None:
        _on_cpu = context.get_context("device_target") == "CPU"
    if not _on_cpu:
        return -1
    # A tensor that no operator has made or read has no address yet, and MindSpore logs an error
    # when it is asked for one.
    if (recorded or _core.in_backward() or (parameter and _was_seen(tensor))) and _is_contiguous(tensor):
        if tensor.storage_offset() == 0:  # some versions give the address of the storage
            address = tensor._data_ptr()  # waits for the operator
            if address != 0:
                return address
    return _array_address(tensor)


def _was_seen(tensor: Any) -> bool:
    """Parameters that come again have been read by an operator."""
    if id(tensor) in _known_parameters:
        return True
    _known_parameters.add(id(tensor))
    return False


def _array_address(tensor: Any) -> int:
    try:
        array = tensor.asnumpy()
    except (TypeError, RuntimeError):
        return -1
    if not array.flags.c_contiguous:
        array = array.copy()
    _held.append(array)
    return array.ctypes.data


def fetch(tensor: Any) -> bytes:
    """The values in C order."""
    if tensor.dtype is _BFLOAT16:  # asnumpy() is not there for it in all versions
        import numpy

        wide = tensor.astype(mindspore.float32).asnumpy()
        return (wide.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
    return tensor.asnumpy().tobytes()


def describe_value(value: Any) -> Optional[Tuple[str, str]]:
    """(type, value as JSON) of what is recorded with a value; None: only the type is."""
    if isinstance(value, mindspore.Type):
        return "mindspore.dtype", json.dumps(str(value))
    return describe_plain(value) or _describe_torch(value)


def _describe_torch(value: Any) -> Optional[Tuple[str, str]]:
    torch = torch_module()
    if torch is None:
        return None
    size = getattr(torch, "Size", None)
    if isinstance(size, type) and isinstance(value, size):
        return "torch.Size", json.dumps([int(extent) for extent in value])
    for name in ("device", "memory_format", "layout"):
        kind = getattr(torch, name, None)
        if isinstance(kind, type) and isinstance(value, kind):
            return f"torch.{name}", json.dumps(str(value))
    return None
