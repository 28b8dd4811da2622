"""Gradients: by hooks, as MindSpore's graph cannot be looked at.

Outputs and parameters get hooks of their tensors, which change nothing. Inputs are handed on as
aliases made by the operator that MindSpore's own backward hooks of cells use.
"""

import collections
from typing import Any, Callable, Iterable, List, Optional

import mindspore
from mindspore._c_expression import HookType
from mindspore.common import api
from mindspore.ops.operations import _inner_ops

from msprobe import _core
from msprobe.mindspore.tensors import TensorPy, is_parameter
from msprobe.trampoline import make_trampoline

_executor = api._pynative_executor
_FLOATING = frozenset(
    id(getattr(mindspore, name))
    for name in ("float16", "float32", "float64", "bfloat16", "complex64", "complex128")
    if hasattr(mindspore, name)
)
# The operator keeps a weak reference to the table of hooks of its cell.
_no_hooks: Any = collections.OrderedDict()


def _takes_gradient(tensor: Any) -> bool:
    if id(tensor.dtype) not in _FLOATING:
        return False
    return not is_parameter(tensor) or tensor.requires_grad


def hook_inputs(tensors: List[Any], hooks: List[Any]) -> List[Optional[Any]]:
    """An alias for each tensor that can have a gradient; its hook gets the alias's gradient.

    The last is made first, so that gradients of one tensor are added up in the order of the
    arguments. One operator each: several tensors in one give wrong gradients on MindSpore 2.7.
    """
    aliases: List[Optional[Any]] = [None] * len(tensors)
    for i in range(len(tensors) - 1, -1, -1):
        if _takes_gradient(tensors[i]):
            aliases[i] = _alias(tensors[i], hooks[i])
    return aliases


def _alias(tensor: Any, hook: Any) -> Any:
    operator = _inner_ops.CellBackwardHook("msprobe", None, _no_hooks)
    operator.set_hook_fn(lambda gradients: hook(gradients), HookType.BackwardHook)  # needs code
    return operator((tensor,))[0]


def without_hooks(tensors: List[Any]) -> List[Optional[Any]]:
    """Aliases for what is given to compiled functions: they would compile our hooks as well."""
    return [
        _alias(tensor, _pass_on) if not is_parameter(tensor) and tensor.hooks() else None
        for tensor in tensors
    ]


def _pass_on(gradients: Any) -> Any:
    return gradients


def hook_output(tensor: Any, hook: Any) -> bool:
    """`hook` gets the gradient of `tensor`. False: none can come."""
    if is_parameter(tensor) or not tensor._has_auto_grad() or not _takes_gradient(tensor):
        return False
    TensorPy.register_hook(tensor, lambda gradient: hook(gradient))
    return True


def watch_tensor(tensor: Any, save: Any) -> Callable[[], None]:
    """Gives what takes the watch away."""
    def hook(gradient: Any) -> Any:
        save(gradient)
        return gradient

    handle = TensorPy.register_hook(tensor, hook)

    def remove() -> None:
        if is_parameter(tensor):  # others die with what computed them
            TensorPy.remove_hook(handle)

    return remove


def watch_passes(patches: Any) -> None:
    """The functions in which backward runs: what is incomplete after them stays so."""
    for name in ("grad", "grad_aux", "run_backward", "backward"):
        function = getattr(type(_executor), name, None)
        if function is not None:
            patches.add(function, "backward", "", make_trampoline)


class ParameterHooks:
    """Of the parameters of the modules that are recorded, while a step is open."""

    def __init__(self) -> None:
        self._wanted: List[Any] = []
        self._hooks: List[Any] = []

    def add(self, parameters: Iterable[Any]) -> None:
        seen = {id(parameter) for parameter in self._wanted}
        for parameter in parameters:
            if parameter.requires_grad and id(parameter) not in seen:
                seen.add(id(parameter))
                self._wanted.append(parameter)

    def install(self) -> None:
        for parameter in self._wanted:
            self._hooks.append((parameter, TensorPy.register_hook(parameter, _hook_of(parameter))))
        self._wanted = []

    def remove(self) -> None:
        for parameter, hook in self._hooks:
            TensorPy.remove_hook(hook)
        self._hooks = []


def _hook_of(parameter: Any) -> Any:
    def hook(gradient: Any) -> Any:
        _core.parameter_gradient(parameter, gradient)
        return gradient

    return hook
