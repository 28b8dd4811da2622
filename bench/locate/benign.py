"""Pairs of runs that are both right: what differs between them is rounding."""

import contextlib
import dataclasses
from typing import Any, Callable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

from models import Attention

Setting = Callable[[Any], Any]  # with setting(model) as run: run(model, batch)


@dataclasses.dataclass
class Pair:
    kind: str
    seed: int
    golden: Setting
    target: Setting
    same_bits: bool = False


def _train(model: Any, batch: Any) -> None:
    torch.manual_seed(1)
    model.loss(batch).backward()


@contextlib.contextmanager
def plain(model: Any) -> Iterator[Callable]:
    for module in model.modules():
        if hasattr(module, "drop"):
            module.drop = 0.0
    yield _train


@contextlib.contextmanager
def threads(model: Any) -> Iterator[Callable]:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        with plain(model) as run:
            yield run
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def no_onednn(model: Any) -> Iterator[Callable]:
    with torch.backends.mkldnn.flags(enabled=False), plain(model) as run:
        yield run


@contextlib.contextmanager
def channels_last(model: Any) -> Iterator[Callable]:
    model.to(memory_format=torch.channels_last)
    with plain(model):
        yield lambda model, batch: _train(model, (batch[0].contiguous(memory_format=torch.channels_last), batch[1]))


@contextlib.contextmanager
def fused(model: Any) -> Iterator[Callable]:
    for module in model.modules():
        if isinstance(module, Attention):
            module.fused = True
    with plain(model) as run:
        yield run


@contextlib.contextmanager
def other_order(model: Any) -> Iterator[Callable]:
    """Sums of products and of norms in another order: two halves, the second first."""
    linear, layer_norm, conv2d = torch.nn.Linear.forward, nn.LayerNorm.forward, nn.Conv2d.forward

    def two_halves(self: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        return _Halves.apply(x, self.weight, self.bias)

    def two_halves_conv(self: nn.Conv2d, x: torch.Tensor) -> torch.Tensor:
        half = max(1, x.shape[1] // 2)
        result = F.conv2d(x[:, half:], self.weight[:, half:], None, self.stride, self.padding)
        return result + F.conv2d(x[:, :half], self.weight[:, :half], self.bias, self.stride, self.padding)

    nn.Linear.forward, nn.Conv2d.forward = two_halves, two_halves_conv
    try:
        with plain(model) as run:
            yield run
    finally:
        nn.Linear.forward, nn.LayerNorm.forward, nn.Conv2d.forward = linear, layer_norm, conv2d


class _Halves(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        half = x.shape[-1] // 2
        result = x[..., half:] @ weight[:, half:].T + x[..., :half] @ weight[:, :half].T
        return result + bias if bias is not None else result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        x, weight = ctx.saved_tensors
        half = weight.shape[0] // 2
        first = gradient[..., half:] @ weight[half:] + gradient[..., :half] @ weight[:half]
        rows, columns = gradient.flatten(0, -2), x.flatten(0, -2)
        middle = rows.shape[0] // 2
        second = rows[middle:].T @ columns[middle:] + rows[:middle].T @ columns[:middle]
        third = rows[middle:].sum(0) + rows[:middle].sum(0) if ctx.has_bias else None
        return first, second, third


@contextlib.contextmanager
def bfloat16(model: Any) -> Iterator[Callable]:
    model.to(torch.bfloat16)
    with plain(model):
        yield lambda model, batch: _train(model, _shortened(batch, torch.bfloat16))


@contextlib.contextmanager
def autocast(model: Any) -> Iterator[Callable]:
    with plain(model):
        def run(model: Any, batch: Any) -> None:
            torch.manual_seed(1)
            with torch.autocast("cpu", torch.bfloat16):
                loss = model.loss(batch)
            loss.backward()

        yield run


@contextlib.contextmanager
def float16(model: Any) -> Iterator[Callable]:
    model.to(torch.float16)
    with plain(model):
        yield lambda model, batch: _train(model, _shortened(batch, torch.float16))


@contextlib.contextmanager
def float64(model: Any) -> Iterator[Callable]:
    model.to(torch.float64)
    with plain(model):
        yield lambda model, batch: _train(model, _shortened(batch, torch.float64))


def _shortened(batch: Any, dtype: torch.dtype) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch.to(dtype) if batch.is_floating_point() else batch
    return tuple(_shortened(item, dtype) for item in batch)


def pairs(model: str, count: int) -> list[Pair]:
    kinds: list[tuple[str, Setting, Setting, bool]] = [
        ("the same again", plain, plain, True),
        ("4 threads", plain, threads, False),
        ("other order of sums", plain, other_order, False),
        ("without oneDNN", plain, no_onednn, False),
        ("bfloat16 against float32", plain, bfloat16, False),
        ("autocast against float32", plain, autocast, False),
        ("float16 against float32", plain, float16, False),
        ("float32 against float64", float64, plain, False),
    ]
    if model == "resnet":
        kinds += [("channels last", plain, channels_last, False), ("channels last", channels_last, no_onednn, False)]
    else:
        kinds += [("fused attention", plain, fused, False), ("fused attention", fused, plain, False)]
    return [Pair(kinds[i % len(kinds)][0], i // len(kinds), *kinds[i % len(kinds)][1:]) for i in range(count)]
