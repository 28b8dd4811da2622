"""Puts watches on functions: those that support_wrap_ops.yaml lists, and one that a user names."""

import inspect
import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from msprobe.listed_apis import read_api_lists, takes_api
from msprobe.notices import did_you_mean, warn
from msprobe.trampoline import make_trampoline

# (module or type, None where it is not there; prefix of names; kind of call)
Owner = Tuple[Optional[Any], str, str]


def watch_listed(
    patches: Any,
    list_path: str,
    owners: Dict[str, Owner],
    risk_level: str,
    *,
    others: Iterable[str] = (),
    named_again: Callable[[str], bool] = lambda prefix: False,
) -> List[str]:
    """Adds the listed functions; gives the listed names that do not exist.

    A function that two categories of `owners` name belongs to the first, unless `named_again` wants
    its second name as well. `others`: categories that are known, but not of this program.
    """
    lists = read_api_lists(list_path)
    _warn_of_unknown(lists, [*owners, *others], list_path)
    missing: List[str] = []
    seen: Dict[int, Any] = {}  # by identity; held, so that no identity comes twice
    for category, (owner, prefix, kind) in owners.items():
        for name, optional in lists.get(category, {}).items():
            if owner is None or not takes_api(risk_level, name):
                continue
            holder, target = _find(owner, name)
            if target is None:
                if not optional:
                    missing.append(f"{category}.{name}")
                continue
            last = name.rpartition(".")[2]
            if id(target) in seen:
                if named_again(prefix):
                    patches.add_copy(holder, last, kind, f"{prefix}.{last}.", make_trampoline)
                continue
            seen[id(target)] = target
            if not patches.add(target, kind, f"{prefix}.{last}.", make_trampoline):
                patches.add_attribute(holder, last, kind, f"{prefix}.{last}.")
    return missing


def watch_named(patches: Any, owner: Any, name: str, prefix: str) -> bool:
    """Whether calls of `owner.name` can be seen."""
    held = vars(owner).get(name) if isinstance(owner, type) else None
    if isinstance(held, classmethod) and inspect.isfunction(held.__func__):
        return patches.add(held.__func__, "custom", prefix, make_trampoline)
    target = getattr(owner, name)
    # What is made anew whenever it is asked for is not what the program calls.
    lasts = target is getattr(owner, name)
    if lasts and patches.add(target, "custom", prefix, make_trampoline):
        return True
    return patches.add_attribute(owner, name, "custom", prefix)


def functions_of(owner: Any) -> List[str]:
    """Public ones. Nothing is run to find them, as properties and lazy imports would be."""
    held = {name: inspect.getattr_static(owner, name, None) for name in dir(owner) if not name.startswith("_")}
    return [name for name, value in held.items() if callable(value) or isinstance(value, (classmethod, staticmethod))]


def label(owner: Any) -> str:
    """The name of a module or class; of another object that of its class."""
    return getattr(owner, "__name__", None) or type(owner).__name__


def _warn_of_unknown(lists: Iterable[str], known: List[str], path: str) -> None:
    for category in lists:
        if category not in known:
            hint = did_you_mean(category, known)
            warn(f'the category "{category}" is not used{hint}: {os.path.abspath(path)}')


def _find(owner: Any, name: str) -> Tuple[Any, Any]:
    holder, target = None, owner
    for part in name.split("."):
        holder = target
        target = getattr(target, part, None)
        if target is None:
            return None, None
    return holder, (target if callable(target) else None)
