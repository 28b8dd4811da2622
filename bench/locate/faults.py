"""What can go wrong: faults in kernels (any op), and mistakes in the program of a model."""

import dataclasses
import random
from typing import Any, Callable, Optional

import torch
import torch.nn.functional as F
from torch import nn

from sites import AtSite, InBackward, Site, Survey, in_kernel


@dataclasses.dataclass
class Fault:
    kind: str
    where: str
    truth: list[Site]  # what was altered: any of these
    backward: bool = False
    plan: Optional[Callable[[], Any]] = None  # made anew for each run
    change: Optional[Callable[[nn.Module], None]] = None  # of the model
    seed: int = 1
    decode: bool = False
    program: bool = False  # other calls than golden's are made


def _one(x: torch.Tensor, value: Callable[[float], float]) -> torch.Tensor:
    """One element that is not small becomes something else."""
    flat = x.view(-1)
    at = int(flat.abs().argsort()[flat.numel() * 3 // 4])
    flat[at] = value(float(flat[at]))
    return x


def _flip(x: torch.Tensor, bit: int) -> torch.Tensor:
    flat = x.view(-1)
    at = int(flat.abs().argsort()[flat.numel() * 3 // 4])
    word = flat[at:at + 1].view(torch.int32)
    word ^= 1 << bit
    return x


def _lost_tile(x: torch.Tensor) -> torch.Tensor:
    flat = x.view(-1)
    flat[-max(1, flat.numel() // 8):] = 0
    return x


KERNEL_FAULTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "NaN in a kernel": lambda x: _one(x, lambda _: float("nan")),
    "infinity in a kernel": lambda x: _one(x, lambda _: float("inf")),
    "bit flip, exponent": lambda x: _flip(x, 24),
    "bit flip, first bit of the mantissa": lambda x: _flip(x, 22),
    "scale off by 1 %": lambda x: x * 1.01,
    "computed in bfloat16": lambda x: x.bfloat16().float(),
    "noise of 0.1 %": lambda x: x + 1e-3 * x.std(unbiased=False) * torch.randn(x.shape, generator=_noise()),
    "a tile is lost": _lost_tile,
    "wrong sign": lambda x: -x,
    "saturates": lambda x: x.clamp(max=float(x.max()) * 0.7, min=float(x.min()) * 0.7),
    "shifted by one element": lambda x: x.view(-1).roll(1).view(x.shape),
}


def _noise() -> torch.Generator:
    return torch.Generator().manual_seed(5)


def leaf_sites(model: nn.Module, survey: Survey) -> list[Site]:
    """Sites that compute something of their own: ops, and modules without modules."""
    sites = []
    for site in survey.sites:
        if "." in site.name and site.name[0].isupper():
            sites.append(site)
            continue
        module = model.get_submodule(child_path(site))
        if child_path(site) and not list(module.children()) and not isinstance(module, nn.Identity):
            if type(module).__module__.startswith("torch."):
                sites.append(site)
    return sites


def child_path(site: Site) -> str:
    return f"{site.path}.{site.name}".strip(".")


def kernel_faults(model: nn.Module, survey: Survey, rng: random.Random, forward: int, backward: int) -> list[Fault]:
    """Random kinds at random ops."""
    floats = [site for site in leaf_sites(model, survey) if _is_float(survey.results[site])]
    kinds = list(KERNEL_FAULTS)
    faults = []
    for i in range(forward):
        site, kind = rng.choice(floats), kinds[i % len(kinds)]
        faults.append(Fault(kind, str(site), [site], plan=lambda s=site, k=kind: in_kernel(s, KERNEL_FAULTS[k])))
    for i in range(backward):
        # The gradient of a sum is the one that came: no kernel runs.
        site, kind = rng.choice([s for s in floats if s.name != "Torch.add"]), kinds[(3 * i) % len(kinds)]
        faults.append(Fault(kind + ", backward", str(site), [site], backward=True,
                            plan=lambda s=site, k=kind: InBackward(s, KERNEL_FAULTS[k])))
    return faults


def _is_float(result: Any) -> bool:
    first = result[0] if isinstance(result, (tuple, list)) else result
    return first.is_floating_point() and first.numel() > 1


def skipped(take: int = 0) -> Callable:
    """The op is not there: what would go into it goes on."""
    return lambda function, args, kwargs: args[take]


def with_other(replace: Callable[[tuple, dict], tuple[tuple, dict]]) -> Callable:
    def altered(function: Callable, args: tuple, kwargs: dict) -> Any:
        args, kwargs = replace(args, kwargs)
        return function(*args, **kwargs)

    return altered


def in_bfloat16(function: Callable, args: tuple, kwargs: dict) -> Any:
    def short(value: Any) -> Any:
        return value.bfloat16() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    return function(*map(short, args), **kwargs).float()


def _as(function: Callable) -> Callable:
    return lambda _, args, kwargs: function(*args, **kwargs)


def _index(position: int, change: Callable[[Any], Any]) -> Callable:
    return with_other(lambda args, kwargs: (
        args[:position] + (change(args[position]),) + args[position + 1:], kwargs))


# kind, name of the op, what happens instead, whether the op is still called (else the module around it
# is the nearest that is)
MISTAKES: list[tuple[str, str, Callable, bool]] = [
    ("missing scale of the scores", "Torch.mul", skipped(), False),
    ("missing mask", "Torch.masked_fill", skipped(), False),
    ("softmax over the wrong axis", "Functional.softmax",
     with_other(lambda args, kwargs: (args, {"dim": -2 if args[0].dim() > 2 else 0})), True),
    ("dropped residual", "Torch.add", skipped(0), False),
    ("residual without the branch", "Torch.add", skipped(1), False),
    ("wrong causal mask", "Torch.triu", _index(1, lambda diagonal: diagonal + 1), True),
    ("position off by one", "Torch.arange",
     with_other(lambda args, kwargs: ((args[0] + 1, args[1] + 1), kwargs)), True),
    ("tanh in place of erf", "Functional.gelu", with_other(lambda args, kwargs: (args, {"approximate": "tanh"})), True),
    ("other activation", "Functional.gelu", _as(F.relu), False),
    ("other activation", "Functional.silu", _as(F.relu), False),
    ("missing activation", "Functional.relu", skipped(), False),
    ("product in bfloat16", "Torch.matmul", in_bfloat16, True),
    ("softmax in bfloat16", "Functional.softmax", in_bfloat16, True),
    ("sum in bfloat16", "Torch.add", in_bfloat16, True),
    ("shares not normalised", "Torch.div", skipped(), False),
    ("an expert is left out", "Torch.index_add", skipped(), False),
    ("wrong padding mask", "Torch.eq", _index(1, lambda _: 1), True),
    ("loss summed", "Functional.cross_entropy", with_other(lambda args, kwargs: (args, {"reduction": "sum"})), True),
    ("label smoothing", "Functional.cross_entropy",
     with_other(lambda args, kwargs: (args, {"label_smoothing": 0.1})), True),
    ("maximum in place of the mean", "Functional.adaptive_avg_pool2d", _as(F.adaptive_max_pool2d), False),
    ("mean square over the wrong axis", "Torch.mean",
     with_other(lambda args, kwargs: (args, {"dim": 1, "keepdim": True})), True),
    ("dropout of twice the rate", "Functional.dropout", _index(1, lambda rate: 2 * rate), True),
]


def mistakes(survey: Survey, rng: random.Random, most: int) -> list[Fault]:
    faults = []
    for kind, name, alter, own in MISTAKES:
        places = [site for site in survey.sites if site.name == name]
        if kind == "missing scale of the scores":
            places = [site for site in places if "attn" in site.path or "cross" in site.path]
        places = [site for site in places if name != "Torch.add" or "norms" not in site.path]  # an eps
        for site in rng.sample(places, min(most, len(places))):
            truth = [site] if own else [Site("", site.path, 0)]
            # Casts are calls too; an argument that differs makes no other calls.
            program = not own or "bfloat16" in kind
            faults.append(Fault(kind, str(site), truth, program=program, plan=lambda s=site, a=alter: AtSite(s, a)))
    return faults


def changed_models(model: nn.Module, rng: random.Random, most: int) -> list[Fault]:
    """Other weights and settings of one module, or of two."""
    modules = dict(model.named_modules())

    def pick(kind: type, count: int = most) -> list[str]:
        names = [name for name, module in modules.items() if isinstance(module, kind)]
        return rng.sample(names, min(count, len(names)))

    def fault(kind: str, names: list[str], change: Callable[[list[nn.Module]], None]) -> Fault:
        return Fault(kind, ", ".join(names), [Site("", name, 0) for name in names],
                     change=lambda other: change([other.get_submodule(name) for name in names]))

    faults = []
    # The oldest torch that we support has no RMSNorm.
    for name in pick((nn.LayerNorm, nn.BatchNorm2d, getattr(nn, "RMSNorm", nn.LayerNorm))):
        faults.append(fault("wrong eps", [name], lambda found: setattr(found[0], "eps", 0.1)))
    for name in pick(nn.BatchNorm2d):
        faults.append(fault("norm in evaluation", [name], lambda found: found[0].eval()))
    for name in pick((nn.Linear, nn.Conv2d)):
        faults.append(fault("bit flip in a weight", [name], _flip_weight))
        faults.append(fault("other weights", [name], lambda found: found[0].weight.data.mul_(1.02)))
    square = [name for name, module in modules.items()
              if hasattr(module, "weight") and module.weight.dim() > 1 and module.weight.shape[0] == module.weight.shape[1]]
    for name in rng.sample(square, min(most, len(square))):
        faults.append(fault("transposed weight", [name], _transpose_weight))
    for name in rng.sample(square, min(most, len(square))):
        others = [o for o in square if o != name and modules[o].weight.shape == modules[name].weight.shape]
        if others:
            faults.append(fault("swapped weights", [name, rng.choice(others)], _swap_weights))
    for name in [n for n, module in modules.items() if hasattr(module, "scale")][:most]:
        site = Site(name, "Torch.mul", 0)
        faults.append(Fault("wrong scale of the scores", str(site), [site],
                            change=lambda other, n=name: setattr(other.get_submodule(n), "scale", 1 / 4)))
    return faults


def _flip_weight(found: list[nn.Module]) -> None:
    _flip(found[0].weight.data, 25)


def _transpose_weight(found: list[nn.Module]) -> None:
    weight = found[0].weight
    weight.data = weight.data.transpose(0, 1).contiguous()


def _swap_weights(found: list[nn.Module]) -> None:
    a, b = found[0].weight, found[1].weight
    a.data, b.data = b.data, a.data


def other_seeds(survey: Survey, count: int) -> list[Fault]:
    """Random numbers of another seed: the first dropout is what differs first."""
    places = [site for site in survey.sites if site.name == "Functional.dropout"]
    return [Fault("wrong seed", str(places[0]), places[:1], seed=seed) for seed in range(11, 11 + count)] if places else []


def stale_caches(survey: Survey, rng: random.Random, count: int) -> list[Fault]:
    """The last word's keys or values are those of the word before."""

    def stale(function: Callable, args: tuple, kwargs: dict) -> Any:
        old, new = args[0]
        return function([old, old[:, :, -1:].expand_as(new)], **kwargs)

    def forgotten(function: Callable, args: tuple, kwargs: dict) -> Any:
        old, new = args[0]
        return function([old.roll(1, 2), new], **kwargs)

    faults = []
    places = [site for site in survey.sites if site.name == "Torch.cat"]
    for site in rng.sample(places, min(count, len(places))):
        for kind, alter in (("stale KV", stale), ("KV of other positions", forgotten)):
            faults.append(Fault(kind, str(site), [Site("", site.path, site.occurrence // 2 + 1)], decode=True, program=True,
                                plan=lambda s=site, a=alter: AtSite(s, a)))
    return faults


def all_faults(model: nn.Module, survey: Survey, decode: Optional[Survey], seed: int, most: int) -> list[Fault]:
    """Every kind of mistake, and kernel faults at random ops; a random choice of them if `most` is less."""
    rng = random.Random(seed)
    faults = mistakes(survey, rng, 2) + changed_models(model, rng, 3) + other_seeds(survey, 2)
    if decode is not None:
        faults += stale_caches(decode, rng, 3)
    faults += kernel_faults(model, survey, rng, 30, 12)
    return faults if len(faults) <= most else [faults[i] for i in sorted(rng.sample(range(len(faults)), most))]
