"""What the collector needs to know about a framework, and nothing else.

``msprobe.pytorch`` and ``msprobe.mindspore`` each implement `Framework` once; debugger.py, session.py
and the engine do the rest.
"""

from typing import Any, Callable, List, Optional, Protocol, Tuple

# (module, name prefix "Module.encoder.fc.Linear", [(parameter name, parameter)])
ModuleEntry = Tuple[Any, str, List[Tuple[str, Any]]]


class Framework(Protocol):
    name: str  # in dump.json: "pytorch", "mindspore", "mindtorch"
    tensor_format: str  # "pt" or "npy": what tensors are saved as unless the user chooses

    def set_up(self) -> dict:
        """For `_core.set_up`, called once:

        reader          {"types": tuple of tensor types,
                         "describe": tensor -> (type, dtype, address, shape, strides | None,
                                                requires_grad, reason | None);
                             address: of the first element, None without values, -1 if the values
                             are not in this machine's memory,
                         "summarize": tensor -> (max, min, mean, norm, nan count, inf count),
                         "fetch": tensor -> buffer with the values in C order,
                             summarize, fetch: or a text, why there are no values now;
                         "is_tracer": tensor -> bool, or None}
                        plus "later" where values on a device need not be waited for at once:
                        {"start": (tensor, reduce?, copy?) -> handle, or None: not now,
                         "wait": () -> False where it cannot wait now,
                         "summary": handle -> as summarize, "buffer": handle -> as fetch,
                         "await_copy": tensor -> None: its values are in this machine's memory now,
                             whatever a device was still copying, or a text: why they are not}
                        plus "exchange" where the framework has torch's C table
        is_tracer and summarize may be None: no tracers; the values are fetched and summarized here
        autograd        what edge taps ask the framework's autograd for; None: it has no graph
        tensor_hooks    instead of autograd: {"grad_mode": () -> bool,
                         "hook_inputs": (tensors, hooks, kind) -> ([alias | None], give_back),
                             hook(its gradient); kind: "module", "custom", "compiled", "api";
                             give_back(result or None), once, after the call -> (result without
                             aliases, [tensors that the call has not changed]),
                         "hook_output": (tensor, hook) -> bool: hook(gradient) may be called,
                         "without_hooks": (tensors) -> [alias | None]: aliases of hooked ones}
        name_object     object -> the prefix of the records of its calls, or None; with calls of
                        the kind "object"
        describe_value  value -> (type, json text), or None
        holders         {type: name}: its objects are recorded with the tensor that is this attribute
        modes           {() -> how many modes of the program watch what is called: () -> context
                        manager without them}, if there are such
        leaf_calls      {"types": modules of exactly these are told apart by nothing but the API
                             that they call: it gets what they get, they give what it gives,
                         "codes": code objects that run between their call and the API's,
                         "tables": dicts of what else is called with all modules' calls,
                         "own_tables": names of attributes, dicts of that for one module}, if any
        parameters      the name of the attribute in which a module has its own by name; without it
                        those of parameters() are recorded, even if others take their places
        size_type       the type of shapes that is a tuple but not recorded as one, or None
        """

    def rank(self) -> Optional[int]:
        """Of this process; None while it is not part of a distributed run."""

    def is_model(self, value: Any) -> bool: ...

    def module_word(self, model: Any) -> str:
        """What the names of its records begin with: "Module" or "Cell"."""

    def modules(self, model: Any, prefix: str) -> List[ModuleEntry]:
        """The descendants of `model`, in order, each once."""

    def parameters(self, module: Any) -> List[Tuple[str, Any]]:
        """The parameters that are the module's own."""

    def watch_objects(self, models: List[Any], config: Any) -> None:
        """A step begins with these models: whose objects, other than modules, are called."""

    def watch_api_calls(self, patches: Any, config: Any) -> List[str]:
        """Adds the functions to record; gives the names that do not exist."""

    def watch_module_calls(self, patches: Any, config: Any) -> None:
        """Adds the one function through which modules are called, and the groups."""

    def watch_handles(self, patches: Any) -> None:
        """Adds wait() of asynchronous collectives."""

    def begin_gradients(self) -> None:
        """Recording begins: gradients will be asked for."""

    def end_gradients(self) -> None:
        """The step has ended."""

    def watch_gradient(self, value: Any, save: Any) -> List[Callable[[], None]]:
        """Calls `save(gradient)` when the gradient of `value` is known (PrecisionDebugger.save).

        Gives what takes the watches away again.
        """
