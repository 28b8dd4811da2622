"""The places of a model where a fault can be put.

The models here make every op through `call`. Without a plan that only calls the function; with one,
a fault replaces arguments or the function, or alters what the kernels below the op compute. The
collector sees the op as it sees any other: a fault in a kernel shows in the op's own outputs.
"""

import dataclasses
from typing import Any, Callable, Optional

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_plan: Any = None


@dataclasses.dataclass(frozen=True)
class Site:
    """The `occurrence`-th op called `name` inside the module at `path`; "" is the model itself."""

    path: str
    name: str
    occurrence: int


def call(owner: torch.nn.Module, name: str, function: Callable, *args: Any, **kwargs: Any) -> Any:
    """One op of `owner`. `name` is that of the record ("Torch.matmul"), or of a child module."""
    if _plan is None:
        return function(*args, **kwargs)
    return _plan.call(owner, name, function, args, kwargs)


class active:
    """with active(plan): the ops of all models go through `plan`."""

    def __init__(self, plan: Any):
        self.plan = plan

    def __enter__(self) -> None:
        global _plan
        _plan = self.plan

    def __exit__(self, *_: Any) -> None:
        global _plan
        _plan = None


def name_modules(model: torch.nn.Module) -> None:
    for path, module in model.named_modules():
        module.site_path = path


class Survey:
    """Notes the ops of a run, in their order."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.results: dict[Site, Any] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def number(self, owner: torch.nn.Module, name: str) -> Site:
        key = (owner.site_path, name)
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        return Site(*key, count)

    def call(self, owner: Any, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        site = self.number(owner, name)
        self.sites.append(site)
        result = function(*args, **kwargs)
        self.results[site] = result
        return result


class AtSite(Survey):
    """Calls `alter(function, args, kwargs)` in place of the op at one site."""

    def __init__(self, site: Site, alter: Callable) -> None:
        super().__init__()
        self.site, self.alter = site, alter

    def call(self, owner: Any, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        if self.number(owner, name) == self.site:
            return self.alter(function, args, kwargs)
        return function(*args, **kwargs)


class _Kernels(TorchDispatchMode):
    """Alters what the kernels compute, while it is on and `wanted()`."""

    def __init__(self, alter: Callable, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self.alter, self.wanted, self.hits = alter, wanted, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Optional[dict] = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.hits or not self.wanted():
            return result
        first = result[0] if isinstance(result, (tuple, list)) else result
        # Views compute nothing: the kernel is one of the next.
        fresh = isinstance(first, torch.Tensor) and first.is_floating_point() and first.numel() > 0
        if not fresh or func.is_view:
            return result
        self.hits += 1
        first.copy_(self.alter(first.clone()))
        return result


def in_kernel(site: Site, alter: Callable) -> AtSite:
    """The first kernel of the op at `site` gives `alter(result)`: a forward fault."""

    def altered(function: Callable, args: tuple, kwargs: dict) -> Any:
        with _Kernels(alter, lambda: True):
            return function(*args, **kwargs)

    return AtSite(site, altered)


class InBackward(AtSite):
    """The gradient kernels of the op at `site` give `alter(result)`. Use `run()` for backward."""

    def __init__(self, site: Site, alter: Callable) -> None:
        super().__init__(site, self._keep)
        self.kernel, self.node, self.hits = alter, None, 0

    def _keep(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = function(*args, **kwargs)
        first = result[0] if isinstance(result, (tuple, list)) else result
        self.node = first.grad_fn
        while self.node is not None and "View" in self.node.name():  # of what the op computed
            self.node = self.node.next_functions[0][0]
        return result

    def backward(self, loss: torch.Tensor) -> None:
        mode = _Kernels(self.kernel, lambda: torch._C._current_autograd_node() is self.node)
        with mode:
            loss.backward()
        self.hits = mode.hits
