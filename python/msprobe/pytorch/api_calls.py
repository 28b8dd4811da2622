"""Where the functions that support_wrap_ops.yaml lists are in PyTorch."""

import os
import sys
from typing import Any, Dict, List, Optional

import torch

from msprobe.listed_apis import read_api_lists, takes_api
from msprobe.trampoline import make_trampoline
from msprobe.wrapping import Owner, watch_listed

LIST_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support_wrap_ops.yaml")


def _owners() -> Dict[str, Owner]:
    """In this order: a function that two categories name belongs to the first."""
    distributed = torch.distributed if torch.distributed.is_available() else None
    npu = sys.modules.get("torch_npu")
    return {
        "functional": (torch.nn.functional, "Functional", "api"),
        "tensor": (torch.Tensor, "Tensor", "api"),
        "torch": (torch, "Torch", "api"),
        "_VF": (torch._VF, "VF", "api"),
        "distributed": (distributed, "Distributed", "distributed"),
        "torch_npu": (npu, "NPU", "api"),
        "npu_distributed": (getattr(npu, "distributed", None), "NPU", "distributed"),
        "mindspeed": (sys.modules.get("mindspeed.ops"), "MindSpeed", "api"),
    }


def watch(patches: Any, config: Any) -> List[str]:
    """Adds the listed functions; gives the listed names that do not exist."""
    missing = watch_listed(patches, LIST_PATH, _owners(), config.risk_level, others=("aten",))
    return missing + _watch_aten(patches, config.risk_level)


_aten: set = set()  # of the list


def _watch_aten(patches: Any, risk_level: str) -> List[str]:
    """`torch.ops.aten.relu` is an object, and all of its kind are called through one function."""
    listed = read_api_lists(LIST_PATH).get("aten", {})
    _aten.update(name for name in listed if takes_api(risk_level, name))
    if _aten:
        patches.add(torch._ops.OpOverloadPacket.__call__, "object", "Aten.", make_trampoline)
    there = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    return [f"aten.{name}" for name, optional in listed.items()
            if not optional and f"aten::{name}" not in there]


def name_object(value: Any) -> Optional[str]:
    """What the records of calls of `value` are called; None: they are not recorded."""
    namespace, _, name = getattr(value, "_qualified_op_name", "").partition("::")
    return f"Aten.{name}" if namespace == "aten" and name in _aten else None
