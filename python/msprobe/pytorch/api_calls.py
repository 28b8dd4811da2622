"""Finds the functions that support_wrap_ops.yaml lists."""

import os
import sys
from typing import Any, Dict, List, Optional, Tuple

import torch

from msprobe.naming import read_api_lists, takes_api
from msprobe.trampoline import make_trampoline

LIST_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support_wrap_ops.yaml")

# In this order: a function that two categories name belongs to the first.
_CATEGORIES = ("functional", "tensor", "torch", "_VF", "distributed", "torch_npu",
               "npu_distributed", "mindspeed")


def _owner(category: str) -> Tuple[Optional[Any], str, str]:
    """(module or type, prefix of names, kind of call)"""
    if category == "functional":
        return torch.nn.functional, "Functional", "api"
    if category == "tensor":
        return torch.Tensor, "Tensor", "api"
    if category == "torch":
        return torch, "Torch", "api"
    if category == "_VF":
        return torch._VF, "VF", "api"
    if category == "distributed":
        available = torch.distributed.is_available()
        return (torch.distributed if available else None), "Distributed", "distributed"
    if category == "torch_npu":
        return sys.modules.get("torch_npu"), "NPU", "api"
    if category == "npu_distributed":
        npu = sys.modules.get("torch_npu")
        return getattr(npu, "distributed", None), "NPU", "distributed"
    return sys.modules.get("mindspeed.ops"), "MindSpeed", "api"


def watch(patches: Any, config: Any) -> List[str]:
    """Adds the listed functions; gives the listed names that do not exist."""
    lists = read_api_lists(LIST_PATH)
    missing: List[str] = []
    seen: Dict[int, Any] = {}  # by identity; held, so that no identity comes twice
    for category in _CATEGORIES:
        owner, prefix, kind = _owner(category)
        for name, optional in lists.get(category, {}).items():
            if owner is None or not takes_api(config.risk_level, name):
                continue
            holder, target = _find(owner, name)
            if target is None:
                if not optional:
                    missing.append(f"{category}.{name}")
                continue
            if id(target) in seen:
                continue
            seen[id(target)] = target
            last = name.rpartition(".")[2]
            if not patches.add(target, kind, f"{prefix}.{last}.", make_trampoline):
                patches.add_attribute(holder, last, kind, f"{prefix}.{last}.")
    return missing


def _find(owner: Any, name: str) -> Tuple[Any, Any]:
    holder, target = None, owner
    for part in name.split("."):
        holder = target
        target = getattr(target, part, None)
        if target is None:
            return None, None
    return holder, (target if callable(target) else None)
