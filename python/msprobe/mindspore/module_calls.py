"""Modules and cells: how they are called and what they are called; objects whose calls are APIs."""

import sys
from typing import Any, Dict, List, Optional, Set, Tuple

from mindspore import nn
from mindspore._c_expression import get_code_extra
from mindspore.common import api
from mindspore.ops import Primitive

from msprobe import _core
from msprobe.class_tree import subclasses
from msprobe.framework import ModuleEntry
from msprobe.notices import warn
from msprobe.trampoline import make_trampoline

_primitives: Dict[int, Tuple[Any, str]] = {}  # by identity; held, so that no identity comes twice

_jit_is_recorded = False


def tables(module: Any) -> Tuple[Any, Any]:
    """Children and parameters, by name."""
    if not isinstance(module, nn.Cell):
        return module._modules, module._parameters
    cells = module._cells
    if "_recompute_cell" in cells:
        cells = {name: cell for name, cell in cells.items() if name != "_recompute_cell"}
    return cells, module._params


def descendants(model: Any, prefix: str) -> List[ModuleEntry]:
    return _core.walk_modules(model, prefix, tables)


def recomputing(entries: List[ModuleEntry]) -> List[ModuleEntry]:
    """What backward calls in the place of cells that are recomputed, under their names."""
    inner = [(getattr(getattr(cell, "_recompute_cell", None), "wrap_cell", None), *rest)
             for cell, *rest in entries]
    return [entry for entry in inner if entry[0] is not None]


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
    experimental = sys.modules.get("mindspore.experimental.optim")  # also the base of mint.optim
    for base, method in ((nn.Optimizer, "construct"),
                         (getattr(experimental, "Optimizer", None), "construct"),
                         (torch and torch.optim.Optimizer, "step")):
        for optimizer in () if base is None else subclasses(base):
            update = optimizer.__dict__.get(method)
            if update is not None:
                patches.add(update, "group", "optimizer", make_trampoline)
    clip = torch and getattr(torch.nn.utils, "clip_grad", None)
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        function = getattr(clip, name, None)
        if function is not None:
            patches.add(function, "group", "clip_grad", make_trampoline)


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
