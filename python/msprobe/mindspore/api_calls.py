"""Finds the functions that support_wrap_ops.yaml lists."""

import importlib
import os
from typing import Any, Dict, List, Optional, Tuple

import mindspore

from msprobe.naming import read_api_lists, takes_api
from msprobe.trampoline import make_trampoline

LIST_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support_wrap_ops.yaml")

# category: (module below mindspore, prefix of names, kind of call). A function that two categories
# name belongs to the first.
_MINDSPORE = {
    "ops": ("ops", "Functional", "api"),
    "tensor": ("Tensor", "Tensor", "api"),
    "mint.nn.functional": ("mint.nn.functional", "MintFunctional", "api"),
    "mint.ops": ("mint", "Mint", "api"),
    "communication.comm_func": ("communication.comm_func", "Distributed", "distributed"),
    "mint.distributed": ("mint.distributed", "MintDistributed", "distributed"),
}
# The same below torch, where torch is MSAdapter.
_TORCH = {
    "functional": ("nn.functional", "Functional", "api"),
    "tensor": ("Tensor", "Tensor", "api"),
    "torch": ("", "Torch", "api"),
    "distributed": ("distributed", "Distributed", "distributed"),
    "npu": ("npu", "NPU", "api"),
}


def watch(patches: Any, config: Any, torch: Optional[Any]) -> List[str]:
    """Adds the listed functions; gives the listed names that do not exist."""
    lists = read_api_lists(LIST_PATH)
    missing: List[str] = []
    seen: Dict[int, Any] = {}  # by identity; held, so that no identity comes twice
    root, categories = (mindspore, _MINDSPORE) if torch is None else (torch, _TORCH)
    for category, (path, prefix, kind) in categories.items():
        owner = _module(root, path)
        for name, optional in lists.get(category, {}).items():
            if owner is None or not takes_api(config.risk_level, name):
                continue
            holder, target = _find(owner, name)
            if target is None:
                if not optional:
                    missing.append(f"{category}.{name}")
                continue
            last = name.rpartition(".")[2]
            if id(target) in seen:
                # ops.exp is mint.exp: each is recorded under the name by which it is called.
                if torch is None and prefix.startswith("Mint"):
                    patches.add_copy(holder, last, kind, f"{prefix}.{last}.", make_trampoline)
                continue
            seen[id(target)] = target
            if not patches.add(target, kind, f"{prefix}.{last}.", make_trampoline):
                patches.add_attribute(holder, last, kind, f"{prefix}.{last}.")
    return missing


def _module(root: Any, path: str) -> Optional[Any]:
    owner = root
    for part in path.split(".") if path else ():
        if not hasattr(owner, part):
            try:
                importlib.import_module(f"{owner.__name__}.{part}")
            except ImportError:
                return None
        owner = getattr(owner, part, None)
    return owner


def _find(owner: Any, name: str) -> Tuple[Any, Any]:
    holder, target = None, owner
    for part in name.split("."):
        holder = target
        target = getattr(target, part, None)
        if target is None:
            return None, None
    return holder, (target if callable(target) else None)
