"""PyTorch as msprobe.framework.Framework describes it."""

import collections
import os
from typing import Any, List, Optional, Tuple

import torch

from msprobe import _core
from msprobe.framework import ModuleEntry
from msprobe.pytorch import api_calls, distributed, module_calls, tensors


class TorchFramework:
    name = "pytorch"
    tensor_format = "pt"

    def __init__(self) -> None:
        self._register_hook: Any = None

    def set_up(self) -> dict:
        return {
            "reader": {
                "types": (torch.Tensor,),
                "describe": tensors.describe,
                "summarize": tensors.summarize,
                "fetch": tensors.fetch,
                "is_tracer": tensors.is_tracer,
                "later": {
                    "start": tensors.start,
                    "wait": tensors.wait,
                    "summary": tensors.started_summary,
                    "buffer": tensors.started_buffer,
                },
                "exchange": {
                    "tensor": torch.Tensor,
                    "tensor_base": torch.Tensor.__base__,
                    "parameter": torch.nn.Parameter,
                    "enabled": os.environ.get("MSPROBE_EXCHANGE_API", "1") != "0",
                    "force_device_path": os.environ.get("MSPROBE_FORCE_DEVICE_PATH", "0") == "1",
                },
            },
            "autograd": _autograd(),
            "describe_value": tensors.describe_value,
            "size_type": torch.Size,
            "holders": tensors.holders(),
            "name_object": api_calls.name_object,
        }

    def rank(self) -> Optional[int]:
        return distributed.rank()

    def is_model(self, value: Any) -> bool:
        return isinstance(value, torch.nn.Module)

    def module_word(self, model: Any) -> str:
        return "Module"

    def modules(self, model: Any, prefix: str) -> List[ModuleEntry]:
        return module_calls.descendants(model, prefix)

    def parameters(self, module: Any) -> List[Tuple[str, Any]]:
        return module_calls.own_parameters(module)

    def watch_objects(self, models: List[Any], config: Any) -> None:
        pass

    def watch_api_calls(self, patches: Any, config: Any) -> List[str]:
        return api_calls.watch(patches, config)

    def watch_module_calls(self, patches: Any, config: Any) -> None:
        module_calls.watch(patches, config)

    def watch_handles(self, patches: Any) -> None:
        distributed.watch_handles(patches)

    def begin_gradients(self) -> None:
        self._register_hook = torch.autograd.Function.__dict__.get("_register_hook")
        torch.autograd.Function._register_hook = staticmethod(_core.register_hook_function())

    def end_gradients(self) -> None:
        if self._register_hook is not None:
            torch.autograd.Function._register_hook = self._register_hook
        else:
            del torch.autograd.Function._register_hook

    def watch_gradient(self, value: Any, save: Any) -> None:
        for tensor in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                tensor.register_hook(save)


def _autograd() -> dict:
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
        "ordered_dict": collections.OrderedDict,
        "tensor_base": torch.Tensor.__base__,
    }
