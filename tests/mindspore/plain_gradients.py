"""Gradients in plain MindSpore: what is recorded, and that the collector changes none of them."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

from conftest import read_dump
from msprobe.mindspore import PrecisionDebugger
from plain_recorded import X, make_net
from recorded_statistics import assert_statistics

X = X.copy()


def gradients_of(function, *args):
    return [g.asnumpy().copy() for g in ms.grad(function, tuple(range(len(args))))(*args)]


class Residual(nn.Cell):
    """x is used inside the inner cell and outside of it."""

    def __init__(self):
        super().__init__()
        self.inner = nn.SequentialCell(nn.Dense(8, 8), nn.Tanh())
        self.out = nn.Dense(8, 3)

    def construct(self, x):
        return self.out(x * 2 + self.inner(x))


def seeded(cell):
    rng = np.random.RandomState(7)
    for parameter in cell.get_parameters():
        parameter.set_data(Tensor(rng.randn(*parameter.shape).astype(np.float32) / 2))
    return cell


def train(net, *args):
    step = ms.value_and_grad(lambda *data: mint.sum(net(*data) ** 2),
                             tuple(range(len(args))), net.trainable_params())
    value, (inputs, weights) = step(*args)
    return [value.asnumpy(), *(g.asnumpy() for g in (*inputs, *weights))]


def test_backward_of_cells_against_numpy(collect):
    net = seeded(Residual())
    x = Tensor(X)
    dump = collect(lambda: train(net, x), net, level="L0", task="tensor")
    w1, b1, w2, b2 = (p.asnumpy().astype(np.float64) for p in net.get_parameters())
    t = np.tanh(X @ w1.T + b1)
    out = (2 * X + t) @ w2.T + b2
    grad_out = 2 * out
    grad_t = grad_out @ w2
    grad_inner_in = (grad_t * (1 - t * t)) @ w1

    def check(description, expected):
        np.testing.assert_allclose(dump.tensor(description), expected, rtol=2e-5, atol=1e-5)
        assert_statistics(description, dump.tensor(description))

    record = dump.data["Cell.out.Dense.backward.0"]
    assert list(record) == ["input", "output"]
    check(record["input"][0], grad_out)
    check(record["output"][0], grad_t)
    # Only what flows through the inner cell, not what x gets from elsewhere.
    check(dump.data["Cell.inner.SequentialCell.backward.0"]["input"][0], grad_t)
    check(dump.data["Cell.inner.SequentialCell.backward.0"]["output"][0], grad_inner_in)
    check(dump.data["Cell.out.Dense.parameters_grad.0"]["weight"][0],
          grad_out.T @ (2 * X + t))
    check(dump.data["Cell.out.Dense.parameters_grad.0"]["bias"][0], grad_out.sum(0))
    assert record["input"][0]["requires_grad"] is False
    assert dump.construct["Cell.inner.1.Tanh.backward.0"] == "Cell.inner.SequentialCell.backward.0"


def test_backward_of_apis_has_all_inputs(collect):
    w = Tensor(np.random.RandomState(3).randn(8, 5).astype(np.float32))

    def program(a, b):
        return mint.sum(mint.matmul(a, b) * 3)

    dump = collect(lambda: gradients_of(program, Tensor(X), w), level="L1", task="tensor")
    record = dump.data["Mint.matmul.0.backward"]
    upstream = np.full((3, 5), 3, np.float64)
    np.testing.assert_allclose(dump.tensor(record["input"][0]), upstream)
    np.testing.assert_allclose(dump.tensor(record["output"][0]), upstream @ w.asnumpy().T, rtol=1e-5)
    np.testing.assert_allclose(dump.tensor(record["output"][1]), X.T @ upstream, rtol=1e-5)
    backward = [n for n in dump.names if n.endswith("backward")]
    assert backward[0] == "Mint.sum.0.backward" and backward[-1] == "Mint.matmul.0.backward"


def test_gradients_of_lists_of_tensors(collect):
    def program(a, b):
        return mint.sum(ops.concat([a, b]) * ops.concat([b, a]))

    b = Tensor(X[::-1].copy())
    dump = collect(lambda: gradients_of(program, Tensor(X), b), level="L1", task="tensor")
    for n, expected in ((0, (X[::-1], X)), (1, (X, X[::-1]))):
        output = dump.data[f"Functional.concat.{n}.backward"]["output"]
        for description, values in zip(output, expected):
            np.testing.assert_allclose(dump.tensor(description), values)


def test_unused_output_is_null(collect):
    def program(a):
        first, second = ops.split(a, 4, axis=1)
        return mint.sum(first * 2)

    dump = collect(lambda: gradients_of(program, Tensor(X)), level="L1")
    record = dump.data["Functional.split.0.backward"]
    assert record["input"][0]["Max"] == 2 and record["input"][1] is None
    assert record["output"][0]["Max"] == 2


class Shared(nn.Cell):
    """One cell called twice, an in-place sum, a view, a jit function, a branch of x used twice."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(8, 8)
        self.norm = nn.LayerNorm((8,))
        self.relu = nn.ReLU()

    def construct(self, x):
        h = self.fc(x)
        h = h + self.relu(self.norm(h))
        h = jitted(self.fc(h)).reshape(-1, 4)
        h += 1.5
        return jitted(h) * ops.transpose(h, (1, 0)).reshape(-1, 4)


@ms.jit
def jitted(x):
    return ops.tanh(x) * 0.5


class PostNorm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Dense(8, 8), nn.Dense(8, 8), nn.Dense(8, 8)
        self.norm = nn.LayerNorm((8,))

    def construct(self, x):
        return self.norm(x + self.q(x) * self.k(x) * self.v(x))


@pytest.mark.parametrize("make", [Residual, Shared, PostNorm])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_same_bits_with_and_without(collect, make, level):
    ms.set_context(deterministic="ON")
    net = seeded(make())
    plain = train(net, Tensor(X))
    seen = []
    collect(lambda: seen.extend(train(net, Tensor(X))), net, level=level)
    after = train(net, Tensor(X))
    assert len(plain) == len(seen)
    for expected, with_tool, without in zip(plain, seen, after):
        np.testing.assert_array_equal(with_tool, expected)
        np.testing.assert_array_equal(without, expected)


def test_in_place_calls_behave_as_without(collect):
    def program(a):
        b = a * 2
        b.mul_(a)
        c = b.view(-1)
        c.add_(1.0)
        d = a * 1
        d[0] = 5.0
        return mint.sum(b * 3) + mint.sum(c) + mint.sum(d)

    plain = gradients_of(program, Tensor(X))
    seen = []
    collect(lambda: seen.extend(gradients_of(program, Tensor(X))), level="L1")
    np.testing.assert_array_equal(seen[0], plain[0])


def test_missing_gradients_of_in_place_calls_are_named(collect):
    def program(a):
        b = mint.exp(a)
        b.mul_(a)
        return mint.sum(b * 3)

    counter = Tensor(np.zeros(1, np.float32)) + 0
    dump = collect(lambda: (gradients_of(program, Tensor(X)), counter.add_(1.0)), level="L1")
    log = (dump.directory / "dump_error_info.log").read_text().splitlines()
    assert "Tensor.mul_.0.backward" not in dump.names
    assert [line for line in log if "Tensor.mul_.0.backward" in line and "in place" in line]
    assert not [line for line in log if "add_" in line]
    entries = dump.ledger["entries"]
    assert sum(entries["not_recordable"].values()) == 1 and entries["unaccounted"] == 0


def test_exception_of_the_program_passes_and_collection_goes_on(collect):
    def program():
        with pytest.raises(TypeError):
            ops.relu("no tensor")
        ops.relu(Tensor(X))

    dump = collect(program, level="L1")
    assert dump.names == ["Functional.relu.1.forward"]
    assert dump.ledger["entries"]["skipped"] == {"exception": 1}


def test_backward_after_stop(tmp_path, debugger):
    net = seeded(Residual())
    d = debugger(level="L0")

    def forward(x):
        d.start(net)
        out = mint.sum(net(x))
        d.stop()
        return out

    ms.value_and_grad(forward, None, net.trainable_params())(Tensor(X))
    d.step()
    PrecisionDebugger._forget()  # waits until everything is written
    names = read_dump(tmp_path / "dump").names
    assert "Cell.out.Dense.backward.0" in names and "Cell.out.Dense.parameters_grad.0" in names


def test_frozen_parameters_have_no_gradient(collect):
    net = seeded(Residual())
    net.out.weight.requires_grad = False
    dump = collect(lambda: train(net, Tensor(X)), net, level="L0")
    assert list(dump.data["Cell.out.Dense.parameters_grad.0"]) == ["bias"]
    assert dump.data["Cell.out.Dense.forward.0"]["parameters"]["weight"]["requires_grad"] is False


def test_weights_only(collect):
    """No gradient for the inputs is asked for: as in most training scripts."""
    net = make_net()
    step = ms.value_and_grad(lambda x: mint.mean(net(x)), None, net.trainable_params())
    dump = collect(lambda: step(Tensor(X)), net, level="L0")
    assert "Cell.fc1.Dense.backward.0" in dump.names
    order = [n for n in dump.names if ".backward." in n]
    assert order.index("Cell.blocks.0.Dense.backward.0") < order.index("Cell.fc1.Dense.backward.0")


def add(a, b):
    return mint.sum(mint.mul(a, b))


@pytest.mark.parametrize("make, asked", [
    (lambda: ms.grad(add, 0), [True, False]),
    (lambda: ms.grad(add, 1), [False, True]),
    (lambda: ms.value_and_grad(add, (0, 1)), [True, True]),
    (lambda: ops.GradOperation()(add), [True, False]),
    (lambda: ops.GradOperation(get_all=True)(add), [True, True]),
])
def test_requires_grad_of_inputs_is_what_is_asked_for(collect, make, asked):
    step = make()  # before start()
    a, b, c = Tensor(X), Tensor(X * 2), Tensor(X * 3)
    dump = collect(lambda: (step(a, b), mint.mul(c, c)), level="L1")
    for name, expected in (("Mint.mul.0.forward", asked), ("Mint.mul.1.forward", [False, False])):
        inputs = dump.data[name]["input_args"]
        assert [description["requires_grad"] for description in inputs] == expected


def test_requires_grad_of_data_where_only_weights_are_asked_for(collect):
    net = make_net()
    step = ms.value_and_grad(lambda x: mint.mean(net(x)), None, net.trainable_params())
    x = Tensor(X)
    dump = collect(lambda: (step(x), step(x)), net, level="L0")
    for n in (0, 1):
        inputs = dump.data[f"Cell.fc1.Dense.forward.{n}"]["input_args"]
        assert inputs[0]["requires_grad"] is False


def test_gradient_functions_are_as_before_after_step(collect):
    before = ops.GradOperation.__call__, type(ops.composite.base._Grad()).__call__
    collect(lambda: ms.grad(add)(Tensor(X), Tensor(X)), level="L1")
    assert before == (ops.GradOperation.__call__, type(ops.composite.base._Grad()).__call__)
