"""Walks trees of modules and of classes."""

from typing import Any, Callable, Iterable, Iterator, List, Optional, Set, Tuple

from msprobe.framework import ModuleEntry

Children = Callable[[Any], Iterable[Tuple[str, Optional[Any]]]]
Parameters = Callable[[Any], List[Tuple[str, Any]]]


def walk(model: Any, prefix: str, children: Children, parameters: Parameters) -> List[ModuleEntry]:
    """All modules below `model`, each under the first of its names."""
    entries: List[ModuleEntry] = []
    _collect(model, prefix, children, parameters, {id(model)}, entries)
    return entries


def _collect(parent: Any, prefix: str, children: Children, parameters: Parameters,
             seen: Set[int], entries: List[ModuleEntry]) -> None:
    for name, module in children(parent):
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        path = f"{prefix}.{writable(name)}"
        own = [(writable(own_name), value) for own_name, value in parameters(module)]
        entries.append((module, f"{path}.{type(module).__name__}", own))
        _collect(module, path, children, parameters, seen, entries)


def writable(name: str) -> str:
    """Half a surrogate pair has no place in UTF-8."""
    # Not by the methods of a subclass, which may do anything.
    return str.encode(name, "utf-8", "backslashreplace").decode("utf-8")


def label(module: Any) -> str:
    return getattr(module, "__name__", None) or type(module).__name__


def subclasses(base: type) -> Iterator[type]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)
