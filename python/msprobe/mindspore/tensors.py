"""How MindSpore's tensors and values look, and MSAdapter's, where torch's tensors are MindSpore's."""

import json
import sys
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import mindspore
from mindspore import Parameter, Tensor, context
from mindspore.common import api
from mindspore.ops.composite import base

from msprobe import _core
from msprobe.values import describe_plain

try:
    from mindspore._c_expression import TensorPy
except ImportError:  # what it is called elsewhere
    from mindspore.common.tensor import Tensor as TensorPy

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
SPARSE = (mindspore.COOTensor, mindspore.CSRTensor)
# MSAdapter puts its own in their place, which run operators.
shape_of = TensorPy.shape.__get__
is_contiguous = TensorPy.is_contiguous
_on_cpu: Optional[bool] = None
_known_parameters: Dict[int, Any] = {}  # by identity, which another one may have later
_parameter_types: dict = {Parameter: True}
_held = threading.local()  # .array: the one whose memory the thread reads


grad_mode = api._pynative_executor._executor.requires_grad


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


def describe(tensor: Any) -> Tuple:
    """(type, dtype, address | None | -1, shape, strides | None, requires_grad, reason | None)"""
    kind = type(tensor)
    parameter = is_parameter(tensor)
    name = "mindspore.Tensor" if kind is Tensor or parameter else kind.__name__
    data_type = tensor.dtype
    dtype = _DTYPES.get(id(data_type)) or str(data_type)
    shape = tuple(shape_of(tensor))
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
    if (recorded or _core.in_backward() or (parameter and _was_seen(tensor))) and is_contiguous(tensor):
        if tensor.storage_offset() == 0:  # some versions give the address of the storage
            address = tensor._data_ptr()  # waits for the operator
            if address != 0:
                return address
    return _array_address(tensor)


def _was_seen(tensor: Any) -> bool:
    """Parameters that come again have been read by an operator."""
    known = _known_parameters.get(id(tensor))
    if known is not None and known() is tensor:
        return True
    _known_parameters[id(tensor)] = weakref.ref(tensor)
    return False


def _array_address(tensor: Any) -> int:
    try:
        array = tensor.asnumpy()
    except (TypeError, RuntimeError):
        return -1
    if not array.flags.c_contiguous:
        array = array.copy()
    _held.array = array
    return array.ctypes.data


def release() -> None:
    """What was read last does not outlive the step."""
    _held.array = None


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
    if type(value) in SPARSE:  # its shape; its values are recorded as a tensor
        return type(value).__name__, json.dumps([int(extent) for extent in value.shape])
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


class GradientFunctions:
    """What `grad_position` asks gradients for. MindSpore notes it nowhere, some versions note all inputs:
    it is known while the gradient function runs that was made with it.
    """

    def __init__(self) -> None:
        self._inputs: Dict[int, List[bool]] = {}  # by identity: one entry for each running function
        self._originals: Dict[Any, Callable] = {}

    def asks_for(self, tensor: Any) -> Optional[bool]:
        """None: `tensor` is no input of a running gradient function."""
        asked = self._inputs.get(id(tensor))
        return None if asked is None else any(asked)

    def install(self) -> None:
        for name in ("GradOperation", "_Grad"):
            kind = getattr(base, name, None)
            if kind is not None:
                self._originals[kind] = kind.__call__
                kind.__call__ = self._watched(kind.__call__)

    def remove(self) -> None:
        for kind, original in self._originals.items():
            kind.__call__ = original
        self._originals = {}

    def _watched(self, original: Callable) -> Callable:
        def __call__(gradient: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
            run = original(gradient, function, *args, **kwargs)
            if not gradient.pynative_:
                return run  # it makes another one when it is called, and runs that
            position = args[1] if len(args) > 1 else kwargs.get("grad_position", 0)

            def running(*inputs: Any, **named: Any) -> Any:
                # `sens` is the last input, unless it comes by name.
                count = len(inputs) - (gradient.sens_param and "sens" not in named)
                asked = _positions(gradient, position, count)
                for i, tensor in enumerate(inputs):
                    self._inputs.setdefault(id(tensor), []).append(i in asked or _wants(tensor))
                try:
                    return run(*inputs, **named)
                finally:
                    for tensor in inputs:
                        self._inputs[id(tensor)].pop()
                        if not self._inputs[id(tensor)]:
                            del self._inputs[id(tensor)]

            return running

        return __call__


def _positions(gradient: Any, position: Any, count: int) -> Iterable[int]:
    if gradient.get_all:
        return range(count)
    if getattr(gradient, "get_by_position", False):
        return position if isinstance(position, tuple) else (position,)
    return () if gradient.get_by_list else (0,)


def _wants(tensor: Any) -> bool:
    """The program has said so, as it can on MSAdapter."""
    return torch_module() is not None and bool(getattr(tensor, "_requires_grad", False))


gradient_functions = GradientFunctions()
