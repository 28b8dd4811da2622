"""Modules: how they are called, what they are called, and the groups around API calls."""

import inspect
import os
import sys
from typing import Any, List, Tuple

import torch

from msprobe import _core
from msprobe.class_tree import subclasses
from msprobe.framework import ModuleEntry
from msprobe.notices import warn
from msprobe.trampoline import make_trampoline

_HOOKS = ("forward_pre_hooks", "forward_hooks", "backward_pre_hooks", "backward_hooks")
# In ledger.json of each step in which it may be so.
COMPILED = ("torch.compile or torch.export has taken functions of the program: what runs inside of them is not "
            "recorded as without it")


def descendants(model: Any, prefix: str) -> List[ModuleEntry]:
    return _core.walk_modules(model, prefix, lambda module: (module._modules, module._parameters))


def own_parameters(module: Any) -> List[Tuple[str, Any]]:
    return [(name, value) for name, value in module._parameters.items() if value is not None]


def watch(patches: Any, config: Any) -> None:
    """All modules are called through one function; nothing is put into a module."""
    patches.add(torch.nn.Module.__call__, "module", "Module.", make_trampoline)
    _leave_out_compilers(patches)
    if config.level != "mix":
        return
    for optimizer in subclasses(torch.optim.Optimizer):
        step = optimizer.__dict__.get("step")
        if step is not None:
            patches.add(step, "group", "optimizer", make_trampoline)
    clip = torch.nn.utils.clip_grad
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        patches.add(getattr(clip, name), "group", "clip_grad", make_trampoline)


def leaf_calls() -> dict:
    """What msprobe.framework wants to know of modules that only call one API. Calls before the last one, like
    that of padding, do not write to what the module got."""
    nn = torch.nn
    names = ("Linear Conv1d Conv2d Conv3d Embedding LayerNorm GroupNorm RMSNorm BatchNorm1d BatchNorm2d BatchNorm3d "
             "ReLU LeakyReLU GELU SiLU Tanh Sigmoid Softmax LogSoftmax Dropout MaxPool2d AvgPool2d AdaptiveAvgPool2d")
    types = [getattr(nn, name) for name in names.split() if hasattr(nn, name)]
    functions = [nn.Module.__call__, nn.Module._call_impl, nn.Conv1d._conv_forward, nn.Conv2d._conv_forward,
                 nn.Conv3d._conv_forward, *(each.forward for each in types)]
    codes = {function.__code__ for function in functions if inspect.isfunction(function)}
    here = os.path.dirname(nn.__file__)  # what others have put there may do anything
    return {
        "types": types,
        "codes": [code for code in codes if code.co_filename.startswith(here)],
        "tables": [vars(nn.modules.module)[f"_global_{name}"] for name in _HOOKS],
        "own_tables": [f"_{name}" for name in _HOOKS],
    }


def _leave_out_compilers(patches: Any) -> None:
    """What compilers look at and compute while they compile is not of the program."""
    convert = sys.modules.get("torch._dynamo.convert_frame")
    compiler = getattr(convert, "CatchErrorsWrapper", None)
    if compiler is not None:
        patches.add(compiler.__call__, "quiet", COMPILED, make_trampoline)
    export = getattr(sys.modules.get("torch.export"), "export", None)
    if export is not None:
        patches.add(export, "quiet", COMPILED, make_trampoline)


def _stance(frames: Any) -> Any:
    return getattr(getattr(frames, "_stance", None), "stance", None)


def has_compiled() -> bool:
    """Whether torch.compile has compiled something that may run now: such calls are not seen."""
    if _stance(sys.modules.get("torch._dynamo.eval_frame")) == "force_eager":
        return False
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    return counters.get("frames", {}).get("ok", 0) > 0


def warn_of_compiled(models: List[Any]) -> None:
    """A compiled part runs as one program: what is inside is not called."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    if frames is None or _stance(frames) == "force_eager":
        return
    found = []
    for model in models:
        parts = [(model, type(model).__name__), *((part, name) for part, name, _ in descendants(model, ""))]
        found += [name.strip(".") for part, name in parts
                  if part.__dict__.get("_compiled_call_impl") is not None or isinstance(part, frames.OptimizedModule)]
    if found:
        shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        warn(f"{shown} is compiled by torch.compile, what runs inside is not recorded as without it: collect "
             'with torch.compiler.set_stance("force_eager"), or without compiling', kind="compiled")
