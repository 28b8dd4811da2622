"""Programs of plain MindSpore as users write them: what of them is recorded, and that they stay as they are."""

import gc
import types

import mindspore as ms
import numpy as np
import pytest
from mindspore import Parameter, Tensor, mint, nn, ops

from conftest import read_dump
from msprobe.mindspore import PrecisionDebugger, tensors

LEVELS = pytest.mark.parametrize("level", ["L0", "L1", "mix"])
X = np.random.RandomState(6).randn(4, 8).astype(np.float32)


def test_functions_of_submodules_and_of_sparse_tensors(collect):
    def program():
        x = Tensor(X[:2, :2])
        ops.approximate_equal(x, x)
        mint.special.round(x)
        2.0 / x
        x /= 2.0
        csr = x.to_csr()
        ops.csr_abs(csr)
        Tensor.from_numpy(X)

    dump = collect(program, level="L1")
    assert dump.names == [f"{name}.0.forward" for name in (
        "Functional.approximate_equal", "Mint.round", "Tensor.__rtruediv__", "Tensor.__itruediv__",
        "Tensor.to_csr", "Functional.csr_abs", "Tensor.from_numpy")]
    assert dump.data["Functional.csr_abs.0.forward"]["output"][0]["values"]["Min"] >= 0


@pytest.mark.parametrize("make", [
    lambda net: nn.Adam(net.trainable_params()),
    lambda net: ms.experimental.optim.Adam(net.trainable_params()),
    lambda net: mint.optim.SGD(net.trainable_params(), 0.5),
], ids=["nn", "experimental", "mint"])
def test_group_of_the_optimizer(collect, make):
    net = nn.SequentialCell(nn.Dense(8, 2))
    optimizer = make(net)
    step = ms.value_and_grad(lambda x: mint.sum(net(x)), None, optimizer.parameters)

    def program():
        _, gradients = step(Tensor(X))
        optimizer(gradients)
        mint.exp(Tensor(X))

    dump = collect(program, net, level="mix")
    assert dump.construct["optimizer"] is None and "optimizer" not in dump.data
    assert dump.construct["Mint.exp.0.forward"] is None


class Same(nn.Cell):
    def construct(self, x):
        return x


class Parts(nn.Cell):
    """Gives its input back beside what it makes of it, in all kinds of containers."""

    def construct(self, x):
        return x, [x, (x * 2, x)], {"x": x}


def gradients(function, *weights):
    value, (of_input, of_weights) = ms.value_and_grad(function, 0, weights)(Tensor(X))
    return [value.asnumpy(), of_input.asnumpy(), *(g.asnumpy() for g in of_weights)]


def assert_same(collect, run, model, **config):
    plain, seen = run(), []
    dump = collect(lambda: seen.extend(run()), model, **config)
    for expected, with_tool in zip(plain, seen, strict=True):
        np.testing.assert_array_equal(with_tool, expected)
    return dump


@LEVELS
def test_what_gives_its_input_back_gives_the_same_object(collect, level):
    net = nn.CellList([nn.SequentialCell(Same()), nn.SequentialCell(Parts())])

    def function(x):
        h = x * 1
        assert net[0](h) is h and net[0](x) is x
        first, (second, (_, third)), named = net[1](h)
        assert first is h and second is h and third is h and named["x"] is h
        assert ops.dropout(h, p=0.0, training=False) is h
        assert h.view((4, 8)) is not h
        return (h * h).sum()

    assert_same(collect, lambda: gradients(function, Parameter(Tensor(X), name="w")), net, level=level)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_backward_of_what_gives_its_input_back(debugger, tmp_path, level):
    net = nn.CellList([Same(), Parts()])

    def function(x):
        same, (_, (double, _)) = net[0](x * 1), net[1](x * 3)[1]
        return (same * 5 + double * 7).sum()

    call = nn.Cell.__call__.__code__
    d = debugger(level=level)
    d.start(net)
    ms.grad(function)(Tensor(X))
    d.stop()
    assert nn.Cell.__call__.__code__ is call  # nothing more is to come
    d.step()
    PrecisionDebugger._forget()
    data = read_dump(tmp_path / "dump").data
    assert "Cell.0.Same.backward.0" not in data  # nothing lies between its output and its input
    record = data["Cell.1.Parts.backward.0"]
    assert [g and g["Max"] for g in record["input"]] == [None, None, 7, None, None]
    assert [g["Max"] for g in record["output"]] == [14]


@LEVELS
def test_functions_of_the_program_get_its_parameters(debugger, tmp_path, level):
    weight = Parameter(Tensor(X.T.copy()), name="weight")
    weight.tag = 5
    library = types.ModuleType("library")

    def project(x, w, *, again):
        assert w is weight and again is weight and isinstance(w, Parameter) and w.tag == 5
        return mint.matmul(x, w) + again.sum()

    library.project = project
    d = debugger(level=level)
    d.register_custom_api(library, "project")
    plain = gradients(lambda x: library.project(x, weight, again=weight).sum(), weight)
    d.start(nn.Dense(2, 2))
    seen = gradients(lambda x: library.project(x, weight, again=weight).sum(), weight)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    for expected, with_tool in zip(plain, seen, strict=True):
        np.testing.assert_array_equal(with_tool, expected)
    gradient = read_dump(tmp_path / "dump").data["library.project.0.backward"]["output"]
    assert gradient[0]["shape"] == [4, 8] and gradient[1:] == [None, None]


class Copies(nn.Cell):
    def __init__(self, source):
        super().__init__()
        self.source = source

    def construct(self, x):
        x.copy_(self.source(x))


@LEVELS
@pytest.mark.parametrize("source", [
    lambda x: Tensor(X * 5), lambda x: x * 3, lambda x: Tensor(np.float32(7)), lambda x: mint.tanh(Tensor(X)) * 2],
    ids=["constant", "itself", "one", "made"])
def test_copies_into_the_input_of_a_module(collect, level, source):
    cell = Copies(source)
    net = nn.SequentialCell(nn.SequentialCell(cell), nn.SequentialCell(nn.Tanh()))

    def function(x):
        h = x * 1
        net[0][0](h)
        return (net[1](h) * h).sum()

    copy = Tensor.copy_
    assert_same(collect, lambda: gradients(function, Parameter(Tensor(X), name="w")), net, level=level)
    assert "copy_" not in vars(Tensor) and Tensor.copy_ == copy


@ms.jit
def jitted(x):
    return ops.tanh(x) * 2


@LEVELS
@pytest.mark.parametrize("view", [lambda h: h, lambda h: h.T, lambda h: h[:, 1:3]])
def test_compiled_functions_get_views_without_hooks(collect, level, view):
    net = nn.SequentialCell(nn.Dense(8, 8))

    def function(x):
        return (jitted(view(net(x))) * 3).sum()

    dump = assert_same(collect, lambda: gradients(function, *net.trainable_params()), net, level=level)
    assert level == "L0" or "Jit.jitted.0.backward" in dump.data


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.act = nn.Dense(8, 8), nn.Tanh()

    def construct(self, x):
        return x + self.act(self.fc(x))


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_recomputed_calls_lie_below_their_cell(collect, level):
    net = nn.SequentialCell(nn.SequentialCell(Block(), Block()), nn.Dense(8, 2))
    for block in net[0]:
        block.recompute()
    dump = assert_same(collect, lambda: gradients(lambda x: net(x).sum(), *net.trainable_params()), net, level=level)
    assert not any("_recompute_cell" in name for name in dump.construct)
    names = [name for name in dump.construct if ".forward." in name and name.startswith("Cell.0.")]
    assert set(names) == {"Cell.0.SequentialCell.forward.0"} | {
        f"Cell.0.{block}.{path}.forward.{n}"
        for n in (0, 1) for block in (0, 1) for path in ("Block", "fc.Dense", "act.Tanh")}
    for block in (0, 1):
        for kind in ("forward", "backward"):
            assert dump.construct[f"Cell.0.{block}.fc.Dense.{kind}.1"] == f"Cell.0.{block}.Block.{kind}.1"
        first, second = (dump.data[f"Cell.0.{block}.Block.{kind}"] for kind in ("backward.0", "backward.1"))
        assert first["input"][0]["Norm"] == second["input"][0]["Norm"] and first["output"][0]["Norm"] > 0
        forward = [dump.data[f"Cell.0.{block}.Block.forward.{n}"]["output"][0]["Norm"] for n in (0, 1)]
        assert forward[0] == forward[1]


@LEVELS
def test_compiled_functions_outside_of_gradients_get_tensors_without_hooks(collect, level):
    """As amp.DynamicLossScaler does with the loss."""
    net = nn.SequentialCell(nn.Dense(8, 8))
    scaler = ms.amp.DynamicLossScaler(1024, 2, 2)
    weights = net.trainable_params()
    step = ms.value_and_grad(lambda x: scaler.scale(mint.sum(net(x))), None, weights)

    def run():
        value, of_weights = step(Tensor(X))
        return [scaler.unscale(value).asnumpy(), jitted(value).asnumpy(),
                *(g.asnumpy() for g in scaler.unscale(of_weights))]

    assert_same(collect, run, net, level=level)


class Doubled(nn.Cell):
    """Doubles the whole gradient of its input, also what comes from elsewhere."""

    def construct(self, x):
        x.register_hook(lambda gradient: gradient * 2)
        return ops.relu(x)


@LEVELS
def test_hooks_that_a_cell_registers_of_its_input(collect, level):
    net = nn.CellList([nn.SequentialCell(Doubled())])
    weight = Parameter(Tensor(X), name="weight")

    def function(x):
        h = x * weight
        return (net[0](h) + h * 3).sum()

    own = vars(Tensor).get("register_hook")
    assert_same(collect, lambda: gradients(function, weight), net, level=level)
    assert vars(Tensor).get("register_hook") is own


@LEVELS
def test_gradients_of_gradients(collect, level):
    net = nn.SequentialCell(nn.Dense(8, 6), nn.Tanh(), nn.Dense(6, 2))

    def of_gradient(x):
        return ms.grad(lambda x: (net(x) ** 2).sum())(x).sum()

    assert_same(collect, lambda: [ms.grad(of_gradient)(Tensor(X)).asnumpy()], net, level=level)


def test_a_parameter_in_the_place_of_a_dead_one_is_new():
    """Its identity is that of the dead one, but no operator has read it."""
    places = set()
    for _ in range(20):
        parameter = Parameter(Tensor(X), name="weight")
        assert not tensors._was_seen(parameter)
        places.add(id(parameter))
        del parameter
        gc.collect()
    assert len(places) < 20
    kept = Parameter(Tensor(X), name="weight")
    assert not tensors._was_seen(kept) and tensors._was_seen(kept)
