"""Gradients: the engine taps the edges of torch's graph; here is what it asks torch through."""

from typing import Any, Callable

import torch

from msprobe import _core


def engine_objects() -> dict:
    """The objects through which the engine asks torch's autograd."""
    with torch.inference_mode(False), torch.enable_grad():  # a debugger may be made under no_grad
        one = torch.ones(1, requires_grad=True)
        cast = one.to(torch.float64).grad_fn
    autocast = getattr(torch._C, "_is_any_autocast_enabled", None) or torch.is_autocast_enabled
    return {
        "leaf_node": type(cast.next_functions[0][0]),
        "cast_node": type(cast),
        "python_function": torch._C._FunctionBase,
        "is_grad_enabled": torch.is_grad_enabled,
        "is_any_autocast_enabled": autocast,
        "sequence_nr": torch._C._autograd._get_sequence_nr,
        "graph_task_id": torch._C._current_graph_task_id,
        "queue_callback": torch.autograd.Variable._execution_engine.queue_callback,
        "register_hook": torch.autograd.Function._register_hook,
        "tensor_base": torch.Tensor.__base__,
        "tensor": torch.Tensor,
        "parameter": torch.nn.Parameter,
        "without_classes": torch._C.DisableTorchFunctionSubclass,
    }


class FunctionHook:
    """In the place of the method by which graph nodes in Python take hooks, while a step is open."""

    def __init__(self) -> None:
        self._original: Any = None
        self._installed = False

    def install(self) -> None:
        self._installed = True
        self._original = torch.autograd.Function.__dict__.get("_register_hook")
        torch.autograd.Function._register_hook = staticmethod(_core.register_hook_function())

    def remove(self) -> None:
        if not self._installed:  # the step did not come so far
            return
        self._installed = False
        if self._original is not None:
            torch.autograd.Function._register_hook = self._original
        else:
            del torch.autograd.Function._register_hook


def watch_tensor(tensor: Any, save: Any) -> Callable[[], None]:
    """Gives what takes the watch away."""
    return tensor.register_hook(save).remove
