"""Gradients: by hooks, as MindSpore's graph cannot be looked at.

Outputs and parameters get hooks of their tensors, which change nothing. Inputs are handed on as
aliases made by the operator that MindSpore's own backward hooks of cells use.
"""

import collections
from functools import partial
from typing import Any, Callable, Iterable, List, Optional, Tuple

import mindspore
from mindspore import Tensor, _c_expression, ops
from mindspore._c_expression import HookType
from mindspore.common import api
from mindspore.ops.operations import _inner_ops

from msprobe import _core
from msprobe.mindspore.tensors import TensorPy, gradient_functions, is_contiguous, is_parameter, shape_of
from msprobe.notices import warn
from msprobe.trampoline import make_trampoline

_executor = api._pynative_executor
_FLOATING = frozenset(
    id(getattr(mindspore, name))
    for name in ("float16", "float32", "float64", "bfloat16", "complex64", "complex128")
    if hasattr(mindspore, name)
)
# The operator keeps a weak reference to the table of hooks of its cell.
_no_hooks: Any = collections.OrderedDict()
_assign = Tensor.assign_value
_wants_gradient = getattr(TensorPy._requires_grad, "__get__", lambda tensor: None)
_default_creation = (
    _c_expression.CreationType.DEFAULT if hasattr(_executor, "set_creation_type") else None
)


def _takes_gradient(tensor: Any) -> bool:
    """Whether a gradient of `tensor` may come."""
    if id(tensor.dtype) not in _FLOATING:
        return False
    if is_parameter(tensor):
        return tensor.requires_grad
    return _wants_gradient(tensor) is not False  # MindSpore 2.7 does not tell


def hook_inputs(
    tensors: List[Any], hooks: List[Any], is_module: bool
) -> Tuple[List[Optional[Any]], Callable[[], None]]:
    """An alias for each tensor that can have a gradient; its hook gets the alias's gradient. And what to
    call when the call that gets the aliases has ended.

    The last is made first, so that gradients of one tensor are added up in the order of the
    arguments. One operator each: several tensors in one give wrong gradients on MindSpore 2.7.
    """
    aliases: List[Optional[Any]] = [None] * len(tensors)
    changeable = []
    for i in range(len(tensors) - 1, -1, -1):
        tensor = tensors[i]
        if not _takes_gradient(tensor) or (is_module and is_parameter(tensor)):
            continue  # an alias is no parameter, which modules may ask for
        if type(tensor) is not Tensor and not is_parameter(tensor):
            continue  # nor of a class of the program's
        aliases[i] = alias = _alias(tensor, hooks[i])
        if alias is not None and not is_parameter(tensor):
            changeable.append((tensor, alias, alias._data_ptr()))
    return aliases, partial(_give_back, changeable)


def _give_back(changeable: List[Tuple[Any, Any, int]]) -> None:
    """What changes a tensor in place may give it other memory instead, as on the CPU: the tensor of the
    caller gets it, too, with what backward knows of it."""
    for tensor, alias, address in changeable:
        if alias._data_ptr() != address:
            _assign(tensor, alias)


def _alias(tensor: Any, hook: Any) -> Optional[Any]:
    """None: no gradient comes."""
    if not is_contiguous(tensor):  # the operator below would give a copy
        alias = ops.transpose(tensor, tuple(range(len(shape_of(tensor)))))
        if _register(alias, lambda gradient: hook(gradient)) is None:
            return None
    else:
        operator = _inner_ops.CellBackwardHook("msprobe", None, _no_hooks)
        operator.set_hook_fn(lambda gradients: hook(gradients), HookType.BackwardHook)  # needs code
        alias = operator((tensor,))[0]
        probe = _register(alias, _pass_on)
        if probe is None:
            return None
        TensorPy.remove_hook(probe)
        if _default_creation is not None:  # else what changes it in place may be refused
            _executor.set_creation_type(alias, _default_creation)
    if is_parameter(tensor):
        return alias
    alias.__dict__ = tensor.__dict__  # what the program has noted there, and what it will
    if getattr(tensor, "parent_tensor_", None) is not None:  # a slice: its items are set there as well
        alias.parent_tensor_ = tensor.parent_tensor_
        alias.index_of_parent_ = tensor.index_of_parent_
    return alias


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
    return _register(tensor, lambda gradient: hook(gradient)) is not None


def watch_tensor(tensor: Any, save: Any) -> Optional[Callable[[], None]]:
    """Gives what takes the watch away; None: no gradient can come."""
    # MindSpore makes a leaf of whatever has no gradient, when it is hooked.
    is_known = is_parameter(tensor) or tensor._has_auto_grad() or gradient_functions.asks_for(tensor)
    if not is_known or not _takes_gradient(tensor):
        return None

    def hook(gradient: Any) -> Any:
        save(gradient)
        return gradient

    handle = _register(tensor, hook)
    if handle is None:
        return None

    def remove() -> None:
        if is_parameter(tensor):  # others die with what computed them
            TensorPy.remove_hook(handle)

    return remove


def _register(tensor: Any, hook: Any) -> Optional[Any]:
    """None: MindSpore refuses, as there is no gradient."""
    try:
        return TensorPy.register_hook(tensor, hook)
    except RuntimeError:
        return None


def watch_passes(patches: Any) -> None:
    """The functions in which backward runs: what is incomplete after them stays so."""
    for name in ("grad", "grad_aux", "run_backward", "backward"):
        function = getattr(type(_executor), name, None)
        if function is not None:
            patches.add(function, "backward", "", make_trampoline)


class ParameterHooks:
    """Of the parameters of the modules that are recorded, while a step is open."""

    def __init__(self) -> None:
        self._hooks: List[Any] = []

    def install(self, parameters: Iterable[Any]) -> None:
        for parameter in {id(parameter): parameter for parameter in parameters}.values():
            if not parameter.requires_grad:
                continue
            handle = _register(parameter, _hook_of(parameter))
            if handle is None:
                warn(f"MindSpore takes no hook of {parameter.name}, as backward first met it frozen: its "
                     "gradient is not recorded", kind="no hook")
            else:
                self._hooks.append(handle)

    def remove(self) -> None:
        for handle in self._hooks:
            TensorPy.remove_hook(handle)
        self._hooks = []


def _hook_of(parameter: Any) -> Any:
    def hook(gradient: Any) -> Any:
        _core.parameter_gradient(parameter, gradient)
        return gradient

    return hook
