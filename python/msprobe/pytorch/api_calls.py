"""Where the functions that support_wrap_ops.yaml lists are in PyTorch."""

import os
import sys
from typing import Any, Dict, List

import torch

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
    return watch_listed(patches, LIST_PATH, _owners(), config.risk_level)
