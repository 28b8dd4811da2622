"""Gradients: by hooks, as MindSpore's graph cannot be looked at.

Outputs and parameters get hooks of their tensors, which change nothing. Inputs are handed on as
views of all of them, whose hooks get what flows back through the call alone.
"""

from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import mindspore
from mindspore import Tensor, context, ops
from mindspore.common import api

from msprobe import _core
from msprobe.mindspore.tensors import TensorPy, gradient_functions, is_parameter, shape_of, torch_module
from msprobe.notices import warn
from msprobe.trampoline import make_trampoline

_executor = api._pynative_executor
_FLOATING = frozenset(
    id(getattr(mindspore, name))
    for name in ("float16", "float32", "float64", "bfloat16", "complex64", "complex128")
    if hasattr(mindspore, name)
)
_assign = Tensor.assign_value
_aliased: Dict[int, Any] = {}  # by the identity of an alias that a running call has: the caller's tensor
_wants_gradient = getattr(TensorPy._requires_grad, "__get__", lambda tensor: None)


def _takes_gradient(tensor: Any) -> bool:
    """Whether a gradient of `tensor` may come."""
    if id(tensor.dtype) not in _FLOATING:
        return False
    if is_parameter(tensor):
        return tensor.requires_grad
    return _wants_gradient(tensor) is not False  # MindSpore 2.7 does not tell


def hook_inputs(
    tensors: List[Any], hooks: List[Any], kind: str
) -> Tuple[List[Optional[Any]], Callable[[Any], Tuple[Any, List[Any]]]]:
    """An alias for each tensor that can have a gradient; its hook gets the alias's gradient. And what to
    call with the result of the call that gets the aliases.

    The last is made first, so that gradients of one tensor are added up in the order of the
    arguments.
    """
    aliases: List[Optional[Any]] = [None] * len(tensors)
    made = []
    for i in range(len(tensors) - 1, -1, -1):
        tensor = tensors[i]
        if not _takes_gradient(tensor) or (kind in ("module", "custom") and is_parameter(tensor)):
            continue  # an alias is no parameter, which code of the program may ask for
        if type(tensor) is not Tensor and not is_parameter(tensor):
            continue  # nor of a class of the program's
        alias = _alias(tensor, hooks[i])
        if alias is not None and kind == "compiled":
            alias = _view(alias)
        if alias is not None:
            aliases[i] = alias
            made.append((tensor, alias, alias._data_ptr()))
            _aliased[id(alias)] = tensor
    return aliases, partial(_give_back, made)


def _give_back(aliases: List[Tuple[Any, Any, int]], result: Any) -> Tuple[Any, List[Any]]:
    """The result with the caller's tensors in place of aliases, and those that are as they were before.

    What changes a tensor in place may give it other memory instead, as on the CPU: the tensor of the
    caller gets it, too, with what backward knows of it.
    """
    originals, unchanged = {}, []
    for tensor, alias, address in aliases:
        del _aliased[id(alias)]
        originals[id(alias)] = tensor
        if alias._data_ptr() == address:
            unchanged.append(tensor)
        elif not is_parameter(tensor):
            _assign(tensor, alias)
    return _with_originals(result, originals, 3), unchanged


def _with_originals(value: Any, originals: Dict[int, Any], depth: int) -> Any:
    kind = type(value)
    if depth == 0 or kind not in (tuple, list, dict):
        return originals.get(id(value), value)
    for key, item in list(value.items() if kind is dict else enumerate(value)):
        original = _with_originals(item, originals, depth - 1)
        if original is item:
            continue
        if kind is tuple:
            return tuple(_with_originals(item, originals, depth - 1) for item in value)
        value[key] = original
    return value


def _alias(tensor: Any, hook: Any) -> Optional[Any]:
    """None: no gradient comes."""
    alias = _view(tensor)
    return None if _register(alias, lambda gradient: hook(gradient)) is None else alias


def _view(tensor: Any) -> Any:
    """Of all of it. Not by transpose or reshape, whose gradients MindSpore 2.10 cannot derive once more."""
    view = ops.broadcast_to(tensor, shape_of(tensor))
    if is_parameter(tensor):
        return view
    view.__dict__ = tensor.__dict__  # what the program has noted there, and what it will
    if getattr(tensor, "parent_tensor_", None) is not None:  # a slice: its items are set there as well
        view.parent_tensor_ = tensor.parent_tensor_
        view.index_of_parent_ = tensor.index_of_parent_
    return view


def without_hooks(tensors: List[Any]) -> List[Optional[Any]]:
    """Aliases for what is given to compiled functions: they would compile our hooks as well."""
    return [
        _view(tensor) if not is_parameter(tensor) and tensor.hooks() else None for tensor in tensors
    ]


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


class InPlaceCopies:
    """copy_ of MindSpore on the CPU writes into no view, or backward does not learn of it: a call that
    has an alias copies into the tensor of the caller."""

    def __init__(self) -> None:
        self._original: Optional[Callable] = None

    def install(self) -> None:
        if torch_module() is not None or context.get_context("device_target") != "CPU":
            return
        original = getattr(Tensor, "copy_", None)
        if original is None or "copy_" in vars(Tensor):
            return

        def copy_(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            of_caller = _aliased.get(id(tensor))
            if of_caller is None:
                return original(tensor, *args, **kwargs)
            of_caller.copy_(*args, **kwargs)
            _assign(tensor, of_caller)
            return tensor

        self._original = original
        Tensor.copy_ = copy_

    def remove(self) -> None:
        if self._original is not None:
            self._original = None
            del Tensor.copy_


class HooksOfInputs:
    """A hook that a call registers of its input gets the gradient of the caller's tensor, not only what
    flows back through the alias that the call has."""

    def __init__(self) -> None:
        self._own: Optional[Callable] = None  # None: it is inherited
        self._installed = False

    def install(self) -> None:
        original = getattr(Tensor, "register_hook", None)
        if original is None or self._installed:
            return
        self._own, self._installed = vars(Tensor).get("register_hook"), True

        def register_hook(tensor: Any, hook: Any) -> Any:
            while id(tensor) in _aliased:  # of an alias, in a call within a call
                tensor = _aliased[id(tensor)]
            return original(tensor, hook)

        Tensor.register_hook = register_hook

    def remove(self) -> None:
        if not self._installed:
            return
        self._installed = False
        if self._own is None:
            del Tensor.register_hook
        else:
            Tensor.register_hook = self._own
