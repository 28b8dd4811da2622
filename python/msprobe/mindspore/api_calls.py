"""Where the functions that support_wrap_ops.yaml lists are in MindSpore and MSAdapter."""

import importlib
import os
from typing import Any, List, Optional

import mindspore

from msprobe.wrapping import watch_listed

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
    root, categories = (mindspore, _MINDSPORE) if torch is None else (torch, _TORCH)
    return watch_listed(
        patches,
        LIST_PATH,
        {c: (_module(root, path), prefix, kind) for c, (path, prefix, kind) in categories.items()},
        config.risk_level,
        others=[*_MINDSPORE, *_TORCH],
        # ops.exp is mint.exp: each is recorded under the name by which it is called.
        named_again=lambda prefix: torch is None and prefix.startswith("Mint"),
    )


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
