"""Modules: how they are called, what they are called, and the groups around API calls."""

from typing import Any, Iterator, List, Set, Tuple

import torch

from msprobe.framework import ModuleEntry
from msprobe.trampoline import make_trampoline


def descendants(model: Any, prefix: str) -> List[ModuleEntry]:
    """All modules below `model`, each under the first of its names."""
    entries: List[ModuleEntry] = []
    _collect(model, prefix, {id(model)}, entries)
    return entries


def _collect(parent: Any, prefix: str, seen: Set[int], entries: List[ModuleEntry]) -> None:
    for name, module in parent._modules.items():
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        path = f"{prefix}.{name}"
        entries.append((module, f"{path}.{type(module).__name__}", own_parameters(module)))
        _collect(module, path, seen, entries)


def own_parameters(module: Any) -> List[Tuple[str, Any]]:
    return [(name, value) for name, value in module._parameters.items() if value is not None]


def watch(patches: Any, config: Any) -> None:
    """All modules are called through one function; nothing is put into a module."""
    patches.add(torch.nn.Module.__call__, "module", "Module.", make_trampoline)
    if config.level != "mix":
        return
    for optimizer in _subclasses(torch.optim.Optimizer):
        step = optimizer.__dict__.get("step")
        if step is not None:
            patches.add(step, "group", "optimizer", make_trampoline)
    clip = torch.nn.utils.clip_grad
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        patches.add(getattr(clip, name), "group", "clip_grad", make_trampoline)


def _subclasses(base: type) -> Iterator[type]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
