"""Each thread numbers the nodes of its graphs from 0: numbers do not tell whose a node is."""

import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from models import Lambda


def _in_a_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def _some_nodes(count=40):
    """The nodes which this thread makes from now on have higher numbers."""
    x = torch.ones(1, requires_grad=True)
    for _ in range(count):
        x = x * 1


def _keep(tensor, kept):
    tensor.retain_grad()
    kept.append(tensor)


def test_what_else_a_tensor_is_used_for_is_not_in_the_gradient_of_a_view(collect):
    layer = nn.Linear(3, 4)

    def run():
        _some_nodes()
        h = layer(torch.ones(2, 3))
        y = _in_a_thread(lambda: h.view(-1))
        (y.sum() + 3 * h.sum()).backward()

    dump = collect(run, level="L1")
    entry = dump.data["Tensor.view.0.backward"]
    assert [entry["input"][0][key] for key in ("Max", "Min")] == [1, 1]
    assert [entry["output"][0][key] for key in ("Max", "Min")] == [1, 1]


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_a_weight_that_two_threads_use(level, collect):
    layer = nn.Linear(3, 3)
    x = torch.randn(2, 3)
    kept = []

    def run():
        _some_nodes()
        h = layer(x)
        _keep(h, kept)
        _in_a_thread(lambda: layer(h)).sum().backward()

    dump = collect(run, nn.ModuleList([layer]), level=level, task="tensor")
    (h,) = kept
    ones = torch.ones(2, 3)
    if level != "L0":
        first, second = (dump.data[f"Functional.linear.{n}.backward"]["output"] for n in (0, 1))
        assert torch.allclose(dump.tensor(second[0]), h.grad)
        assert torch.allclose(dump.tensor(second[1]), ones.T @ h.detach())
        assert torch.allclose(dump.tensor(first[1]), h.grad.T @ x)
    if level != "L1":
        second = dump.data["Module.0.Linear.backward.1"]
        assert torch.equal(dump.tensor(second["input"][0]), ones)
        assert torch.allclose(dump.tensor(second["output"][0]), h.grad)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("level", ["L0", "mix"])
def test_modules_that_a_thread_calls(level, before, collect):
    first = nn.Linear(3, 3)
    rest = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    kept = []
    rest[1].register_forward_pre_hook(lambda module, args: _keep(args[0], kept))

    def make():
        _some_nodes(before)
        h = first(torch.ones(2, 3))
        _keep(h, kept)
        return h

    def run():
        h = _in_a_thread(make)
        _in_a_thread(lambda: rest(h)).sum().backward()

    dump = collect(run, nn.ModuleList([first, rest]), level=level, task="tensor")
    h, between = kept
    for name, tensor in (("1.Sequential", h), ("1.0.Linear", h), ("1.1.Linear", between)):
        (gradient,) = dump.data[f"Module.{name}.backward.0"]["output"]
        assert gradient is not None, name
        assert torch.allclose(dump.tensor(gradient), tensor.grad), name
    (gradient,) = dump.data["Module.1.0.Linear.backward.0"]["input"]
    assert torch.allclose(dump.tensor(gradient), between.grad)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_what_a_thread_finds_in_a_module(level, collect):
    """Its nodes have numbers that the thread reaches only in the modules that come after it."""
    takes_kept = Lambda(lambda self, x: x + self.kept)
    rest = [nn.Linear(3, 3) for _ in range(20)]
    model = nn.ModuleList([nn.Sequential(takes_kept, *rest)])
    kept = []
    for layer in rest:
        layer.register_forward_pre_hook(lambda module, args: _keep(args[0], kept))

    def make():
        _some_nodes(30)
        h = torch.ones(2, 3, requires_grad=True)
        for _ in range(10):
            h = F.relu(h)
        return h

    def run():
        takes_kept.kept = _in_a_thread(make)
        x = torch.ones(2, 3, requires_grad=True)
        _in_a_thread(lambda: model[0](x)).sum().backward()

    dump = collect(run, model, level=level, task="tensor")
    assert len(kept) == len(rest)
    for i, tensor in enumerate(kept):
        (gradient,) = dump.data[f"Module.0.{i + 1}.Linear.backward.0"]["output"]
        assert gradient is not None, i
        assert torch.allclose(dump.tensor(gradient), tensor.grad), i
