"""PyTorch programs on MindSpore: what is recorded, and that the collector changes no gradient."""

import mindspore as ms
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from msprobe.mindspore import PrecisionDebugger
from recorded_statistics import assert_statistics

X = np.random.RandomState(1).randn(3, 8).astype(np.float32)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)

    def forward(self, x):
        return x + self.fc2(self.act(self.fc1(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(8, 2)
        self.seen = {}

    def forward(self, x):
        h = self.blocks(x)
        self.seen["h"] = h.asnumpy().copy()
        return F.relu(self.head(h))


def make_net():
    net = Net()
    rng = np.random.RandomState(0)
    for parameter in net.parameters():
        values = rng.randn(*parameter.shape).astype(np.float32) / 3
        parameter.copy_(torch.tensor(values))
    return net


def train(net):
    step = ms.value_and_grad(lambda x: torch.mean(net(x)), 0, tuple(net.parameters()))
    value, (x_grad, grads) = step(torch.tensor(X))
    return [value.asnumpy(), x_grad.asnumpy(), *(g.asnumpy() for g in grads)]


def test_l0(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L0", task="tensor")
    assert dump.all["framework"] == "mindtorch"
    assert dump.all["dump_data_dir"].endswith("dump_tensor_data")
    head = dump.data["Module.head.Linear.forward.0"]
    assert head["input_args"][0]["type"] == "mindspore.Tensor"
    assert head["input_args"][0]["dtype"] == "Float32"
    assert head["input_args"][0]["requires_grad"] is True
    assert head["input_args"][0]["data_name"] == "Module.head.Linear.forward.0.input.0.npy"
    assert head["parameters"]["weight"]["type"] == "mindspore.Tensor"
    assert head["parameters"]["weight"]["requires_grad"] is True
    assert_statistics(head["input_args"][0], net.seen["h"])
    np.testing.assert_array_equal(dump.tensor(head["input_args"][0]), net.seen["h"])
    backward = dump.data["Module.head.Linear.backward.0"]
    assert list(backward) == ["input", "output"]
    assert backward["input"][0]["requires_grad"] is False
    grads = dump.data["Module.head.Linear.parameters_grad.0"]
    assert list(grads) == ["weight", "bias"]
    assert "Module.blocks.Sequential.backward.0" in dump.data
    assert dump.construct["Module.blocks.0.fc1.Linear.forward.0"] == "Module.blocks.0.Block.forward.0"
    np.testing.assert_allclose(
        dump.tensor(grads["weight"][0]),
        dump.tensor(backward["input"][0]).T @ net.seen["h"], rtol=1e-5)
    np.testing.assert_allclose(
        dump.tensor(backward["output"][0]),
        dump.tensor(backward["input"][0]) @ net.head.weight.asnumpy(), rtol=1e-5)


def test_l1(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L1")
    for name in ("Functional.linear.0.forward", "Functional.relu.0.forward", "Torch.mean.0.forward",
                 "Tensor.__add__.0.forward", "Functional.linear.0.backward",
                 "Functional.relu.0.backward"):
        assert name in dump.names
    linear = dump.data["Functional.linear.4.backward"]["output"]
    assert [description["shape"] for description in linear] == [[3, 8], [2, 8], [2]]
    assert dump.construct == {}


def test_mix(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="mix", summary_mode="md5")
    assert dump.construct["Functional.linear.0.forward"] == "Module.blocks.0.fc1.Linear.forward.0"
    assert dump.construct["Functional.linear.0.backward"] == "Module.blocks.0.fc1.Linear.backward.0"
    assert all("md5" in r["output"][0] for n, r in dump.data.items() if n.endswith(".forward"))


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_same_bits_with_and_without(collect, level):
    net = make_net()
    plain, seen = train(net), []
    collect(lambda: seen.extend(train(net)), net, level=level)
    for expected, with_tool, after in zip(plain, seen, train(net)):
        np.testing.assert_array_equal(with_tool, expected)
        np.testing.assert_array_equal(after, expected)


def test_functions_are_originals_after_stop(collect):
    before = (F.relu, F.relu.__code__, torch.mean.__code__, nn.Module.__call__.__code__)
    collect(lambda: F.relu(torch.tensor(X)), level="L1")
    assert before == (F.relu, F.relu.__code__, torch.mean.__code__, nn.Module.__call__.__code__)


def test_messages(collect, capsys, tmp_path):
    net = make_net()
    collect(lambda: net(torch.tensor(X)), net, level="L0")
    said = capsys.readouterr().out
    assert f"dump.json is at {tmp_path / 'dump' / 'step0'}" in said
    assert "*" * 76 + "\n*                        msprobe ends successfully.                        *" in said


def test_works_on_the_class(collect, debugger):
    debugger(level="L0")
    net = make_net()
    PrecisionDebugger.start(model=net)
    net(torch.tensor(X))
    PrecisionDebugger.stop()
    PrecisionDebugger.step()


class Mixed(nn.Module):
    """A module that calls an operator and a compiled function of MindSpore."""

    def __init__(self):
        super().__init__()
        self.fc, self.add = nn.Linear(8, 8), ms.ops.Add()

    def forward(self, x):
        return doubled(self.add(self.fc(x), x))


@ms.jit
def doubled(x):
    return x * 2


@pytest.mark.parametrize("level", ["L1", "mix"])
def test_operators_and_compiled_functions(collect, level):
    inner = Mixed()
    net = nn.Sequential(inner)
    x = torch.tensor(X)
    plain = net(x).asnumpy()
    dump = collect(lambda: net(x), net, level=level)
    added = dump.data["Primitive.add.Add.0.forward"]["output"][0]
    assert_statistics(added, plain / 2)
    assert_statistics(dump.data["Jit.doubled.0.forward"]["output"][0], plain)
    assert ("Module.0.Mixed.forward.0" in dump.names) is (level == "mix")


class Adds(torch.nn.Module):
    def forward(self, x):
        x += 1.5  # nothing is given back
        assert x.requires_grad


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_what_a_module_changes_in_place_is_changed(collect, level):
    net = torch.nn.Sequential(Adds(), torch.nn.Sequential(Adds()))

    def function(x):
        h = x * 2
        h.requires_grad = True
        net[0](h)
        net[1][0](h)
        return (h * h).sum()

    def run():
        value, gradient = ms.value_and_grad(function, 0)(torch.tensor(X))
        return value.asnumpy(), gradient.asnumpy()

    plain, seen = run(), []
    collect(lambda: seen.extend(run()), net, level=level)
    for expected, with_tool in zip(plain, seen, strict=True):
        np.testing.assert_array_equal(with_tool, expected)


def test_group_of_clipping(collect):
    net = torch.nn.Sequential(nn.Linear(8, 2))
    step = ms.value_and_grad(lambda x: net(x).sum(), None, tuple(net.parameters()))

    def program():
        _, grads = step(torch.tensor(X))
        for parameter, grad in zip(net.parameters(), grads):
            parameter.grad = grad
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5, float("inf"))
        torch.exp(torch.tensor(X))

    dump = collect(program, net, level="mix")
    assert dump.construct["clip_grad"] is None and "clip_grad" not in dump.data
    inside = [name for name, parent in dump.construct.items() if parent == "clip_grad"]
    assert {name.split(".")[1] for name in inside} >= {"abs", "max", "stack", "copy_"}
    assert dump.construct["Torch.exp.0.forward"] is None


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_modules_that_give_their_input_back(collect, level):
    net = torch.nn.Sequential(nn.Sequential(nn.Identity(), nn.Dropout(0.5))).eval()

    def function(x):
        h = x * 2
        assert net(h) is h and net[0][0](x) is x
        return (h * h).sum()

    collect(lambda: ms.value_and_grad(function, 0)(torch.tensor(X)), net, level=level)
