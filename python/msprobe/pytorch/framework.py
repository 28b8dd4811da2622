"""PyTorch as msprobe.framework.Framework describes it."""

import os
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch.utils._python_dispatch import _disable_current_modes

from msprobe import _core
from msprobe.framework import ModuleEntry
from msprobe.pytorch import api_calls, distributed, gradients, module_calls, tensors


class TorchFramework:
    name = "pytorch"
    tensor_format = "pt"

    def __init__(self) -> None:
        self._function_hook = gradients.FunctionHook()
        self._started = False

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
                    "await_copy": tensors.await_copy,
                },
                "exchange": {
                    "tensor": torch.Tensor,
                    "tensor_base": torch.Tensor.__base__,
                    "parameter": torch.nn.Parameter,
                    "enabled": os.environ.get("MSPROBE_EXCHANGE_API", "1") != "0",
                    "force_device_path": os.environ.get("MSPROBE_FORCE_DEVICE_PATH", "0") == "1",
                },
            },
            "autograd": gradients.engine_objects(),
            "describe_value": tensors.describe_value,
            "size_type": torch.Size,
            "holders": tensors.holders(),
            "name_object": api_calls.name_object,
            "parameters": "_parameters",
            "modes": {
                torch._C._len_torch_function_stack: torch._C.DisableTorchFunction,
                torch._C._len_torch_dispatch_stack: _disable_current_modes,
            },
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
        if models and not self._started:
            self._started = True
            module_calls.warn_of_compiled(models)

    def watch_api_calls(self, patches: Any, config: Any) -> List[str]:
        return api_calls.watch(patches, config)

    def watch_module_calls(self, patches: Any, config: Any) -> None:
        module_calls.watch(patches, config)

    def watch_handles(self, patches: Any) -> None:
        distributed.watch_handles(patches)

    def begin_gradients(self) -> None:
        self._function_hook.install()
        if module_calls.has_compiled():
            _core.note(module_calls.COMPILED)

    def end_gradients(self) -> None:
        self._function_hook.remove()

    def watch_gradient(self, value: Any, save: Any) -> List[Callable[[], None]]:
        with torch._C.DisableTorchFunctionSubclass():
            if not (isinstance(value, torch.Tensor) and value.requires_grad):
                return []
            return [gradients.watch_tensor(value, save)]
