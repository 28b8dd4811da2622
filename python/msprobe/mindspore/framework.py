"""MindSpore and MSAdapter as msprobe.framework.Framework describes it."""

import os
import threading
from typing import Any, Callable, List, Optional, Tuple

from mindspore import Tensor, _c_expression, context, nn
from mindspore.common.api import _pynative_executor

from msprobe import _core
from msprobe.framework import ModuleEntry
from msprobe.mindspore import api_calls, distributed, gradients, module_calls, tensors
from msprobe.notices import say, warn


class MindSporeFramework:
    tensor_format = "npy"

    def __init__(self) -> None:
        self.torch: Optional[Any] = tensors.torch_module()
        self._parameters = gradients.ParameterHooks()
        self._copies = gradients.InPlaceCopies()
        self._hooks_of_inputs = gradients.HooksOfInputs()
        self._hooked: List[Any] = []  # of the step that begins
        self._recomputing: List[ModuleEntry] = []
        self._constructed = self._started = False

    @property
    def name(self) -> str:
        return "mindspore" if self.torch is None else "mindtorch"

    def look_for_torch(self) -> None:
        """torch may have been imported after msprobe, but not after the first construction."""
        if not self._constructed and self.torch is None:
            self.torch = tensors.torch_module()
            if self.torch is not None:
                say("torch was imported after msprobe.mindspore; this is taken as MSAdapter")
        self._constructed = True

    def set_up(self) -> dict:
        return {
            "reader": {
                "types": (Tensor,),
                "describe": tensors.describe,
                "summarize": None,
                "fetch": tensors.fetch,
                "is_tracer": None,
            },
            "autograd": None,
            "tensor_hooks": {
                "grad_mode": tensors.grad_mode,
                "hook_inputs": gradients.hook_inputs,
                "hook_output": gradients.hook_output,
                "without_hooks": gradients.without_hooks,
            },
            "name_object": module_calls.name_object,
            "describe_value": tensors.describe_value,
            "size_type": getattr(self.torch, "Size", None),
            "holders": dict.fromkeys(tensors.SPARSE, "values"),
        }

    def rank(self) -> Optional[int]:
        return distributed.rank()

    def is_model(self, value: Any) -> bool:
        return isinstance(value, self._model_types())

    def _model_types(self) -> Tuple[type, ...]:
        return (nn.Cell,) if self.torch is None else (nn.Cell, self.torch.nn.Module)

    def module_word(self, model: Any) -> str:
        return "Cell" if isinstance(model, nn.Cell) else "Module"

    def modules(self, model: Any, prefix: str) -> List[ModuleEntry]:
        entries = module_calls.descendants(model, prefix)
        self._recomputing += module_calls.recomputing(entries)
        return entries

    def parameters(self, module: Any) -> List[Tuple[str, Any]]:
        return module_calls.own_parameters(module)

    def watch_objects(self, models: List[Any], config: Any) -> None:
        if not self._started:
            module_calls.warn_of_compiled(models)
        self._started = True
        # Those of modules that get a name later in the step are not recorded under it.
        by_modules = models if config.level in ("L0", "mix") else []
        self._hooked = [value for model in by_modules
                        for entry in module_calls.descendants(model, "") for _, value in entry[2]]
        module_calls.note_primitives(models if config.level in ("L1", "mix") else [])

    def watch_api_calls(self, patches: Any, config: Any) -> List[str]:
        module_calls.watch_primitives(patches)
        return api_calls.watch(patches, config, self.torch)

    def watch_module_calls(self, patches: Any, config: Any) -> None:
        module_calls.watch(patches, config, self.torch)
        gradients.watch_passes(patches)

    def watch_handles(self, patches: Any) -> None:
        distributed.watch_handles(patches)

    def begin_gradients(self) -> None:
        _run_operators_at_once()
        self._parameters.install(self._hooked)
        if self._recomputing:
            _core.add_modules(self._recomputing)
        self._hooked, self._recomputing = [], []
        tensors.gradient_functions.install()
        self._copies.install()
        self._hooks_of_inputs.install()

    def end_gradients(self) -> None:
        self._parameters.remove()
        self._copies.remove()
        self._hooks_of_inputs.remove()
        tensors.gradient_functions.remove()
        tensors.release()

    def watch_gradient(self, value: Any, save: Any) -> List[Callable[[], None]]:
        if not isinstance(value, Tensor):
            return []
        remove = gradients.watch_tensor(value, save)
        return [] if remove is None else [remove]


def _run_operators_at_once() -> None:
    """MindSpore hands each operator from thread to thread, and who wants a value waits, spinning, until
    its operator has come through. On the CPU that costs a multiple of what the operators do; from the
    first recorded step on they run in the thread that calls them. MindSpore has no way back, and two
    threads that call operators at once would then crash, more surely than they do otherwise: a program
    that has threads keeps the queues, unless its user knows better.
    """
    switch_off = getattr(_c_expression, "disable_multi_thread", None)
    if switch_off is None or context.get_context("device_target") != "CPU":
        return
    keep = os.environ.get("MSPROBE_KEEP_QUEUES")
    if keep == "1":
        return
    if keep != "0" and threading.active_count() > 1:
        warn("the program has threads, so MindSpore's operators keep going through its queues and "
             "recording takes several times as long: set MSPROBE_KEEP_QUEUES=0 in the environment if "
             "the threads call no operators, else 1", kind="queues")
        return
    _pynative_executor.sync()  # what has been handed over runs before what is not
    switch_off()
