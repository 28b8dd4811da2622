"""Modules and cells: how they are called and what they are called; objects whose calls are APIs."""

from typing import Any, Dict, List, Optional, Set, Tuple

from mindspore import nn
from mindspore._c_expression import get_code_extra
from mindspore.common import api
from mindspore.ops import Primitive

from msprobe import _core
from msprobe.framework import ModuleEntry
from msprobe.modules import subclasses
from msprobe.notices import warn
from msprobe.trampoline import make_trampoline

_primitives: Dict[int, Tuple[Any, str]] = {}  # by identity; held, so that no identity comes twice

_jit_is_recorded = False


def tables(module: Any) -> Tuple[Any, Any]:
    """Children and parameters, by name."""
    if isinstance(module, nn.Cell):
        return module._cells, module._params
    return module._modules, module._parameters


def descendants(model: Any, prefix: str) -> List[ModuleEntry]:
    return _core.walk_modules(model, prefix, tables)


def own_parameters(module: Any) -> List[Tuple[str, Any]]:
    return [(name, value) for name, value in tables(module)[1].items() if value is not None]


def watch(patches: Any, config: Any, torch: Optional[Any]) -> None:
    """All modules are called through one function; nothing is put into a module."""
    patches.add(nn.Cell.__call__, "module", "Cell.", make_trampoline)
    if torch is not None:
        patches.add(torch.nn.Module.__call__, "module", "Module.", make_trampoline)
    global _jit_is_recorded
    _jit_is_recorded = config.level in ("L1", "mix")
    for name in ("_JitExecutor", "_MindsporeFunctionExecutor"):
        executor = getattr(api, name, None)
        if executor is not None:
            patches.add(executor.__call__, "compiled", "Jit.", make_trampoline)
    if config.level != "mix":
        return
    for optimizer in subclasses(nn.Optimizer):
        construct = optimizer.__dict__.get("construct")
        if construct is not None:
            patches.add(construct, "group", "optimizer", make_trampoline)
    if torch is not None:
        for optimizer in subclasses(torch.optim.Optimizer):
            step = optimizer.__dict__.get("step")
            if step is not None:
                patches.add(step, "group", "optimizer", make_trampoline)


def note_primitives(models: List[Any]) -> None:
    """The operators that are attributes of cells are named after the attribute."""
    _primitives.clear()
    seen: Set[int] = set()

    def visit(parent: Any) -> None:
        if id(parent) in seen:
            return
        seen.add(id(parent))
        for name, value in vars(parent).items():
            _note(name, value)
        for name, value in getattr(parent, "_primitives", {}).items():
            _note(name, value)
        for child in tables(parent)[0].values():
            if child is not None:
                visit(child)

    for model in models:
        visit(model)


def _note(name: str, value: Any) -> None:
    if isinstance(value, Primitive) and id(value) not in _primitives:
        _primitives[id(value)] = (value, f"Primitive.{name}.{type(value).__name__}")


def name_object(value: Any) -> Optional[str]:
    """What the records of calls of `value` are called; None: they are not recorded."""
    if isinstance(value, Primitive):
        return _primitives[id(value)][1] if id(value) in _primitives else None
    function = getattr(value, "fn", None) if _jit_is_recorded else None
    return f"Jit.{function.__name__}" if function is not None else None


def warn_of_compiled(models: List[Any]) -> None:
    """jit by bytecode takes the program as it finds it: what is watched later is not called."""
    late = [type(module).__name__ for model in models
            for module in (model, *(entry[0] for entry in descendants(model, "")))
            if _is_compiled(getattr(module, "construct", None))]
    if late:
        shown = ", ".join(dict.fromkeys(late))
        warn(f"{shown} was compiled by jit before start(), what runs inside is not recorded: call "
             "start() before the first training step")


def _is_compiled(construct: Any) -> bool:
    inner = getattr(construct, "__wrapped__", None)
    return hasattr(construct, "__wrapped_by_jit__") and get_code_extra(inner) is not None


def watch_primitives(patches: Any) -> None:
    for call in {type(value).__call__: None for value, _ in _primitives.values()}:
        patches.add(call, "object", "Primitive.", make_trampoline)
