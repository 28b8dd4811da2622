"""What the collector must leave as it is in programs of plain MindSpore, and say of them."""

import gc
import json

import mindspore as ms
import numpy as np
import pytest
from mindspore import Parameter, Tensor, mint, nn, ops
from mindspore.common import api

from conftest import read_dump
from msprobe.mindspore import PrecisionDebugger

X = np.random.RandomState(5).randn(3, 8).astype(np.float32)
LEVELS = pytest.mark.parametrize("level", ["L0", "L1", "mix"])


class Changing(nn.Cell):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def construct(self, x):
        self.change(x)


class Around(nn.Cell):
    """Goes on with what the inner cell has changed, and with what it was made from."""

    def __init__(self, change, view):
        super().__init__()
        self.fc = nn.Dense(8, 8, weight_init="ones")
        self.inner = nn.CellList([Changing(change), nn.SequentialCell(Changing(change))])
        self.view = view

    def construct(self, x):
        whole = self.fc(x) * 1
        part = self.view(whole)
        self.inner[0](part)
        self.inner[1](part)
        return (part * part).sum() + (whole * 0.5).sum()


def train(net, *inputs):
    step = ms.value_and_grad(net, tuple(range(len(inputs))), net.trainable_params())
    value, (of_inputs, of_weights) = step(*inputs)
    return [value.asnumpy(), *(g.asnumpy() for g in (*of_inputs, *of_weights))]


def assert_same(collect, function, model, **config):
    plain, seen = function(), []
    dump = collect(lambda: seen.extend(function()), model, **config)
    for expected, with_tool in zip(plain, seen, strict=True):
        np.testing.assert_array_equal(with_tool, expected)
    return dump


@LEVELS
@pytest.mark.parametrize("view", [
    lambda h: h, lambda h: h.T, lambda h: h[:, 2:5], lambda h: h[:, 1]],
    ids=["whole", "transposed", "slice", "column"])
@pytest.mark.parametrize("change", [
    lambda x: x.__setitem__(0, 3.0),
    lambda x: x.__setitem__(x > 0, 1.5),
    lambda x: x.mul_(2.0),
    lambda x: x.add_(1.5),
    lambda x: x.assign_value(x * 2),
], ids=["row", "mask", "mul_", "add_", "assign_value"])
def test_what_a_module_changes_in_place_is_changed(collect, level, view, change):
    net = Around(change, view)
    assert_same(collect, lambda: train(net, Tensor(X)), net, level=level)


def test_a_change_before_an_exception_stays(collect):
    def fail(x):
        x[0] = 3.0
        raise KeyError("of the program")

    net = nn.SequentialCell(Changing(fail))

    def function(x):
        h = x * 1
        with pytest.raises(KeyError):
            net[0](h)
        return (h * h).sum()

    assert_same(collect, lambda: [ms.grad(function)(Tensor(X)).asnumpy()], net, level="L0")


class Head(nn.Cell):
    """Asks its inputs what only the caller's tensors know."""

    def construct(self, h, weight):
        assert isinstance(weight, Parameter) and weight.name and weight.tag == 5
        h.seen = h.mask + 1
        return ops.matmul(h, weight)


class Tied(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(X.T.copy()), name="shared")
        self.weight.tag = 5
        self.fc = nn.Dense(8, 8, weight_init="ones")
        self.head = Head()

    def construct(self, x):
        h = self.fc(x)
        h.mask = 3
        out = self.head(h, self.weight)
        assert h.seen == 4
        return out.sum()


@LEVELS
def test_parameters_and_attributes_reach_modules(collect, level):
    net = Tied()
    dump = assert_same(collect, lambda: train(net, Tensor(X)), net, level=level)
    if level == "L0":
        gradients = dump.data["Cell.head.Head.backward.0"]["output"]
        assert gradients[0]["shape"] == [3, 8] and gradients[1] is None


class OfTheProgram(Tensor):
    pass


def test_tensors_of_a_class_of_the_program_keep_it(collect):
    class Asks(nn.Cell):
        def construct(self, x):
            assert isinstance(x, OfTheProgram)
            return (x * 2).sum()

    net = nn.SequentialCell(Asks())
    collect(lambda: ms.grad(lambda x: net[0](x))(OfTheProgram(X)), net, level="L0")


def debug_entries(tmp_path, step=0):
    (file,) = (tmp_path / "dump" / f"step{step}").glob("*/debug.json")
    return json.loads(file.read_text())["data"]


def test_save_of_what_has_no_gradient(debugger, tmp_path):
    frozen = Parameter(Tensor(X), name="mean", requires_grad=False)
    thawed = Parameter(Tensor(X), name="thawed", requires_grad=False)
    labels, data = Tensor(np.arange(3, dtype=np.int32)), Tensor(X)
    ms.grad(lambda x: (x * thawed).sum())(Tensor(X))
    thawed.requires_grad = True
    d = debugger(level="debug")
    d.start()
    d.save({"a": frozen, "b": labels, "c": thawed, "d": data}, "value")
    assert not labels._has_auto_grad() and not data._has_auto_grad()

    def function(x):
        h = x * 2
        d.save(h, "h")
        return h.sum()

    ms.grad(function)(data)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert list(debug_entries(tmp_path)) == ["value.0.debug", "h.0.debug", "h_grad.0.debug"]


def test_save_opens_its_step(debugger, tmp_path):
    def function(x):
        h = x * 2
        PrecisionDebugger.save(h, "h")
        return h.sum()

    debugger(level="debug")
    for _ in range(2):
        ms.grad(function)(Tensor(X))
        PrecisionDebugger.step()
    PrecisionDebugger._forget()
    for step in range(2):
        assert list(debug_entries(tmp_path, step)) == ["h.0.debug", "h_grad.0.debug"]


def test_start_with_a_parameter_that_was_frozen_before(collect):
    net = nn.SequentialCell(nn.Dense(8, 8))
    (weight, bias) = net.get_parameters()
    weight.requires_grad = False
    ms.value_and_grad(lambda x: net(x).sum(), None, [bias])(Tensor(X))
    weight.requires_grad = True
    dump = collect(lambda: ms.grad(lambda x: net(x).sum(), None, [weight, bias])(Tensor(X)), net,
                   level="L0")
    assert "bias" in dump.data["Cell.0.Dense.parameters_grad.0"]


@ms.jit
def jitted(x):
    return ops.tanh(x)


@LEVELS
def test_calls_of_compiled_functions_are_let_go(debugger, level):
    def executors():
        gc.collect()
        return sum(type(value) is api._JitExecutor for value in gc.get_objects())

    net = nn.Dense(8, 8)
    jitted(Tensor(X))
    before = executors()
    d = debugger(level=level)
    d.start(net)
    for _ in range(5):
        jitted(Tensor(X))
    assert executors() <= before + 1
    d.stop()
    d.step()


class Loss(nn.Cell):
    def construct(self, out, target):
        return ((out - target) * (out - target)).sum()


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_backward_of_the_cell_that_a_training_cell_runs(collect, level):
    backbone = nn.SequentialCell(nn.Dense(8, 8), nn.ReLU())
    net = nn.TrainOneStepCell(nn.WithLossCell(backbone, Loss()),
                              nn.SGD(backbone.trainable_params(), 0.0))
    dump = assert_same(collect, lambda: [net(Tensor(X), Tensor(X)).asnumpy()], net, level=level)
    outer = "Cell.network.WithLossCell.backward.0"
    assert dump.data[outer]["input"][0]["Max"] == 1
    assert dump.construct["Cell.network._loss_fn.Loss.backward.0"] == outer
    assert dump.construct["Cell.network._backbone.SequentialCell.backward.0"] == outer
    assert dump.names.index("Cell.network._backbone.0.Dense.backward.0") < dump.names.index(outer)


def test_constants_have_no_backward_and_keep_no_order(debugger, tmp_path):
    mask = Tensor(np.ones((3, 8), np.float32))

    def function(x):
        h = ops.exp(x)
        h = ops.add(h, mask)
        ops.relu(mask)
        return ops.mul(h, mask).sum()

    code = ops.relu.__code__
    d = debugger(level="L1")
    d.start()
    assert ops.relu.__code__ is not code
    ms.grad(function)(Tensor(X))
    d.stop()
    assert ops.relu.__code__ is code  # nothing more is to come
    d.step()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    assert [name for name in dump.names if name.endswith("backward")] == [
        "Tensor.sum.0.backward", "Functional.mul.0.backward", "Functional.add.0.backward",
        "Functional.exp.0.backward"]
    assert dump.data["Functional.add.0.backward"]["output"][1] is None


def test_modules_whose_inputs_have_no_gradient_end_after_what_is_inside(collect):
    net = nn.SequentialCell(nn.SequentialCell(nn.Dense(8, 8), nn.Tanh()), nn.Dense(8, 8))
    model = nn.SequentialCell(net)
    step = ms.value_and_grad(lambda x: mint.sum(model(x)), None, model.trainable_params())
    dump = collect(lambda: step(Tensor(X)), model, level="L0")
    assert [name for name in dump.names if ".backward." in name] == [
        "Cell.0.1.Dense.backward.0", "Cell.0.0.1.Tanh.backward.0", "Cell.0.0.0.Dense.backward.0",
        "Cell.0.0.SequentialCell.backward.0", "Cell.0.SequentialCell.backward.0"]


@pytest.mark.parametrize("level", ["L1", "mix"])
def test_functions_that_write_into_a_parameter_get_it(collect, level):
    state = Parameter(Tensor(np.zeros((3, 8), np.float32)), name="state")
    rows = Tensor(np.array([0, 2], np.int32))

    def function(x):
        ops.assign(state, Tensor(X * 2))
        ops.assign_add(state, Tensor(X))
        ops.scatter_add(state, rows, Tensor(X[:2]))
        return (x * state).sum()

    def run():
        return [ms.grad(function)(Tensor(X)).asnumpy(), state.asnumpy().copy()]

    assert_same(collect, run, None if level == "L1" else nn.Dense(8, 8), level=level)


def test_requires_grad_with_the_sensitivity_by_name(collect):
    step = ops.GradOperation(get_all=True, sens_param=True)(lambda a, b: mint.mul(a, b))
    sens = Tensor(np.ones((3, 8), np.float32))
    dump = collect(lambda: (step(Tensor(X), Tensor(X), sens=sens), step(Tensor(X), Tensor(X), sens)),
                   level="L1")
    for n in range(2):
        inputs = dump.data[f"Mint.mul.{n}.forward"]["input_args"]
        assert [description["requires_grad"] for description in inputs] == [True, True]


def test_sparse_tensors_are_recorded_with_shape_and_values(collect):
    class Sparse(nn.Cell):
        def construct(self, csr, coo):
            return csr

    csr = ms.CSRTensor(Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32),
                       Tensor([1.0, 4.0], ms.float32), (2, 4))
    coo = ms.COOTensor(Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0], ms.float32), (3, 4))
    net = nn.SequentialCell(Sparse())
    dump = collect(lambda: net[0](csr, coo), net, level="L0")
    record = dump.data["Cell.0.Sparse.forward.0"]
    for value, kind, shape, most in ((record["input_args"][0], "CSRTensor", [2, 4], 4),
                                     (record["input_args"][1], "COOTensor", [3, 4], 2),
                                     (record["output"][0], "CSRTensor", [2, 4], 4)):
        assert value["type"] == kind and value["value"] == shape
        assert value["values"]["Max"] == most and value["values"]["shape"] == [2]
