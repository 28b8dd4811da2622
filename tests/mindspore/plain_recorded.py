"""What is recorded in plain MindSpore programs. Values are compared with a float64 oracle."""

import threading
import zlib

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

from msprobe.mindspore import MsprobeError
from recorded_statistics import assert_statistics


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(8, 4)
        self.blocks = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU())
        self.add = ops.Add()
        self.seen = {}

    def construct(self, x):
        h = self.fc1(x)
        self.seen["h"] = h.asnumpy().copy()
        return self.add(self.blocks(h), h)


def make_net():
    net = Net()
    rng = np.random.RandomState(0)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(rng.randn(*parameter.shape).astype(np.float32)))
    return net


X = np.random.RandomState(1).randn(3, 8).astype(np.float32)


def train(net, x=None):
    step = ms.value_and_grad(lambda data: mint.mean(net(data)), None, net.trainable_params())
    return step(Tensor(X if x is None else x))


def test_names_and_keys_at_l0(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L0")
    assert dump.all["framework"] == "mindspore"
    assert dump.all["level"] == "L0"
    assert [n for n in dump.names if ".forward." in n] == [
        "Cell.fc1.Dense.forward.0",
        "Cell.blocks.0.Dense.forward.0",
        "Cell.blocks.1.ReLU.forward.0",
        "Cell.blocks.SequentialCell.forward.0",
    ]
    fc1 = dump.data["Cell.fc1.Dense.forward.0"]
    assert list(fc1) == ["input_args", "input_kwargs", "output", "parameters"]
    assert list(fc1["output"][0]) == [
        "type", "dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad"]
    assert fc1["output"][0]["type"] == "mindspore.Tensor"
    assert fc1["output"][0]["dtype"] == "Float32"
    assert fc1["output"][0]["requires_grad"] is True
    assert list(fc1["parameters"]) == ["weight", "bias"]
    assert fc1["parameters"]["weight"]["requires_grad"] is True
    assert dump.construct["Cell.blocks.0.Dense.forward.0"] == "Cell.blocks.SequentialCell.forward.0"
    assert dump.construct["Cell.blocks.0.Dense.backward.0"] == "Cell.blocks.SequentialCell.backward.0"
    assert any("self.fc1(x)" in frame for _, frames in dump.stack.values() for frame in frames)


def test_statistics_of_values(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L0")
    fc1 = dump.data["Cell.fc1.Dense.forward.0"]
    assert_statistics(fc1["input_args"][0], X)
    assert_statistics(fc1["output"][0], net.seen["h"])
    assert_statistics(fc1["parameters"]["weight"], net.fc1.weight.asnumpy())
    assert_statistics(fc1["parameters"]["bias"], net.fc1.bias.asnumpy())


def test_l1_names_apis_and_primitives(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L1")
    assert not any(name.startswith("Cell.") for name in dump.names)
    assert "Primitive.add.Add.0.forward" in dump.names
    assert "Mint.mean.0.forward" in dump.names
    assert dump.construct == {}


def test_mix_puts_calls_into_cells(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="mix")
    inside = [n for n, parent in dump.construct.items() if parent == "Cell.fc1.Dense.forward.0"]
    assert inside and all(n.endswith(".forward") for n in inside)


def test_prefixes(collect):
    x = Tensor(X)

    def program():
        ops.relu(x)
        x.abs()
        x + x
        mint.exp(x)
        mint.nn.functional.relu(x)

    dump = collect(program, level="L1")
    assert dump.names == [
        "Functional.relu.0.forward", "Tensor.abs.0.forward", "Tensor.__add__.0.forward",
        "Mint.exp.0.forward", "MintFunctional.relu.0.forward"]


def test_tensor_files(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L0", task="tensor")
    record = dump.data["Cell.fc1.Dense.forward.0"]["output"][0]
    assert record["data_name"] == "Cell.fc1.Dense.forward.0.output.0.npy"
    np.testing.assert_array_equal(dump.tensor(record), net.seen["h"])
    weight = dump.data["Cell.fc1.Dense.forward.0"]["parameters"]["weight"]
    assert weight["data_name"] == "Cell.fc1.Dense.forward.0.parameters.weight.npy"
    grad = dump.data["Cell.fc1.Dense.parameters_grad.0"]["weight"][0]
    assert grad["data_name"] == "Cell.fc1.Dense.parameters_grad.0.weight.npy"


def test_md5_is_crc32(collect):
    net = make_net()
    dump = collect(lambda: train(net), net, level="L0", summary_mode="md5")
    record = dump.data["Cell.fc1.Dense.forward.0"]["output"][0]
    assert record["md5"] == f"{zlib.crc32(net.seen['h'].tobytes()):08x}"
    assert dump.data["Cell.fc1.Dense.forward.0"]["input_args"][0]["md5"] == (
        f"{zlib.crc32(X.tobytes()):08x}")


DTYPES = ["float16", "float32", "float64", "bfloat16", "int8", "int32", "int64", "uint8", "bool_"]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(collect, name):
    wide = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    x = Tensor(wide).astype(getattr(ms, name))
    dump = collect(lambda: ops.reshape(x, (3, 2)), level="L1", task="tensor")
    record = dump.data["Functional.reshape.0.forward"]["input_args"][0]
    spelling = {"bfloat16": "BFloat16", "bool_": "Bool", "uint8": "UInt8"}
    assert record["dtype"] == spelling.get(name, name.capitalize())
    values = wide.astype(bool) if name == "bool_" else wide
    saved = dump.tensor(record)
    np.testing.assert_array_equal(saved, values)
    if name == "bfloat16":
        assert saved.dtype == np.float32
    if name == "bool_":
        assert (record["Max"], record["Min"]) == (True, False)
    else:
        assert_statistics(record, wide)


def test_views_and_odd_shapes(collect):
    base = Tensor(np.arange(24, dtype=np.float32).reshape(4, 6)) + 0
    views = {
        "transposed": ops.transpose(base, (1, 0)),
        "narrow": base.narrow(0, 1, 2),
        "column": mint.select(base, 1, 2),
        "scalar": mint.sum(base),
        "empty": Tensor(np.zeros((0, 3), np.float32)),
        "expanded": mint.broadcast_to(base.narrow(0, 1, 1), (5, 6)),
    }

    def program():
        for view in views.values():
            ops.relu(view)

    dump = collect(program, level="L1", task="tensor")
    for i, (name, view) in enumerate(views.items()):
        record = dump.data[f"Functional.relu.{i}.forward"]["input_args"][0]
        if name == "empty":
            assert record["Max"] is None and record["shape"] == [0, 3]
            continue
        assert_statistics(record, view.asnumpy())
        np.testing.assert_array_equal(dump.tensor(record), view.asnumpy())


def test_other_values_and_special_numbers(collect):
    x = Tensor(np.array([1, np.nan, np.inf], np.float32))
    dump = collect(lambda: ops.concat([x, x], axis=0), level="L1")
    record = dump.data["Functional.concat.0.forward"]
    assert len(record["input_args"][0]) == 2
    assert record["input_kwargs"]["axis"] == {"type": "int", "value": 0}
    assert np.isnan(record["output"][0]["Norm"])
    assert (record["output"][0]["nan_count"], record["output"][0]["inf_count"]) == (2, 2)


def test_input_of_in_place_call_is_that_before_it(collect):
    x = Tensor(np.ones(3, np.float32)) + 0
    dump = collect(lambda: x.add_(Tensor(np.ones(3, np.float32))), level="L1")
    record = dump.data["Tensor.add_.0.forward"]
    assert record["input_args"][0]["Max"] == 1
    assert record["output"][0]["Max"] == 2


def test_steps_and_counters(collect):
    net = make_net()
    dumps = collect(lambda: (train(net), train(net)), net, steps=3, level="mix")
    assert dumps[0].names == dumps[1].names == dumps[2].names
    assert "Cell.fc1.Dense.forward.1" in dumps[0].names
    assert "Cell.fc1.Dense.parameters_grad.1" in dumps[0].names
    assert all(d.ledger["entries"]["unaccounted"] == 0 for d in dumps)


def test_step_selection(tmp_path, debugger):
    net = make_net()
    d = debugger(level="L0", top={"step": [1]})
    for _ in range(3):
        d.start(net)
        net(Tensor(X))
        d.stop()
        d.step()
    assert [p.name for p in (tmp_path / "dump").iterdir()] == ["step1"]


def test_l0_needs_a_model(debugger):
    with pytest.raises(MsprobeError, match="needs a model"):
        debugger(level="L0").start()


def test_jit_is_one_record_and_is_not_compiled_again(collect):
    compiled = []

    @ms.jit
    def double_relu(x):
        return ops.relu(x) * 2

    x = Tensor(X)
    plain = double_relu(x).asnumpy()

    def program():
        for _ in range(2):
            compiled.append(double_relu(x).asnumpy())

    dump = collect(program, level="L1")
    assert dump.names == ["Jit.double_relu.0.forward", "Jit.double_relu.1.forward"]
    assert_statistics(dump.data["Jit.double_relu.0.forward"]["output"][0], plain)
    np.testing.assert_array_equal(compiled[0], plain)


def test_a_model_that_runs_compiled_is_not_called_another(collect):
    net = nn.SequentialCell(nn.ReLU())

    @ms.jit
    def train_step(x):
        return net(x)

    dump = collect(lambda: train_step(Tensor(X)), net, level="mix")
    assert dump.names == ["Jit.train_step.0.forward"] and dump.ledger["notes"] == []


# What has been compiled belongs to the code object: each case needs its own.
BY_BYTECODE = """class ByBytecode(nn.Cell):
    @ms.jit(capture_mode="bytecode")
    def construct(self, x):
        return ops.tanh(x) * 2
"""


@pytest.mark.parametrize("late", [False, True])
def test_start_after_jit_by_bytecode_is_said(collect, late, capsys, monkeypatch):
    from msprobe.mindspore import PrecisionDebugger

    monkeypatch.setattr(PrecisionDebugger.framework, "_started", False)
    names = dict(globals())
    exec(BY_BYTECODE, names)
    net = nn.SequentialCell(names["ByBytecode"](), nn.ReLU())
    if late:
        net(Tensor(X))
    dump = collect(lambda: net(Tensor(X)), net, level="mix")
    said = "ByBytecode was compiled by jit before start()" in capsys.readouterr().err
    assert said is late
    assert ("Functional.tanh.0.forward" in dump.names) is not late


@pytest.mark.parametrize("late", [False, True])
def test_start_after_jit_by_source_loses_nothing(collect, late, capsys, monkeypatch):
    from msprobe.mindspore import PrecisionDebugger

    class BySource(nn.Cell):
        @ms.jit
        def construct(self, x):
            return ops.tanh(x) * 2

    monkeypatch.setattr(PrecisionDebugger.framework, "_started", False)
    net = nn.SequentialCell(BySource(), nn.ReLU())
    if late:
        net(Tensor(X))
    dump = collect(lambda: net(Tensor(X)), net, level="mix")
    assert "compiled" not in capsys.readouterr().err
    assert [n for n in dump.names if n.endswith(".0")] == [
        "Cell.0.BySource.forward.0", "Cell.1.ReLU.forward.0"]
    assert "Jit.construct.0.forward" in dump.names


def test_functions_are_the_same_objects_after_stop(collect):
    before = (ops.relu, mint.exp, Tensor.__add__, nn.Cell.__call__, ops.relu.__code__)
    collect(lambda: ops.relu(Tensor(X)), level="L1")
    assert before == (ops.relu, mint.exp, Tensor.__add__, nn.Cell.__call__, ops.relu.__code__)


def test_parameter_without_values(collect):
    net = nn.Dense(3, 2)
    holder = nn.CellList([net])
    dump = collect(lambda: net(Tensor(np.ones((1, 3), np.float32))), holder, level="L0")
    assert_statistics(dump.data["Cell.0.Dense.forward.0"]["parameters"]["weight"],
                      net.weight.asnumpy())


class Changing(nn.Cell):
    """Changes in place what has been recorded just before, in the ways that have an effect on the CPU."""

    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Dense(8, 8), nn.Dense(8, 2)

    def construct(self, x):
        h = self.fc(x)
        h.copy_(h * 2 + 1)
        h[0] = 5.0
        ops.assign(self.fc.bias, self.fc.bias * 3)
        return self.out(h)


@pytest.mark.parametrize("level, name", [
    ("L0", "Cell.fc.Dense.forward.0"),
    ("L1", "Primitive.bias_add.BiasAdd.0.forward"),
    ("mix", "Cell.fc.Dense.forward.0"),
    ("mix", "Primitive.bias_add.BiasAdd.0.forward"),
])
@pytest.mark.parametrize("task", ["tensor", "statistics"])
def test_later_changes_in_place_do_not_change_what_is_recorded(collect, level, name, task):
    net = Changing()
    bias = np.arange(8, dtype=np.float32)
    net.fc.bias.set_data(Tensor(bias.copy()))
    output = net.fc(Tensor(X)).asnumpy().copy()
    changed = output * 2 + 1
    changed[0] = 5
    dump = collect(lambda: net(Tensor(X)), net, level=level, task=task)

    def check(description, values):
        if task == "tensor":
            np.testing.assert_array_equal(dump.tensor(description), values)
        assert_statistics(description, values)

    check(dump.data[name]["output"][0], output)
    if "parameters" in dump.data[name]:
        check(dump.data[name]["parameters"]["bias"], bias)
        check(dump.data["Cell.out.Dense.forward.0"]["input_args"][0], changed)
    np.testing.assert_array_equal(net.fc.bias.asnumpy(), bias * 3)


@pytest.mark.parametrize("device, keep, threads, times", [
    ("CPU", "", 1, 1), ("CPU", "1", 1, 0), ("CPU", "", 2, 0), ("CPU", "0", 2, 1), ("Ascend", "", 1, 0)])
def test_when_operators_run_at_once(monkeypatch, capsys, device, keep, threads, times):
    from msprobe import notices
    from msprobe.mindspore import framework

    calls = []
    monkeypatch.setattr(notices, "_said", set())
    monkeypatch.setattr(framework._c_expression, "disable_multi_thread", lambda: calls.append(1))
    monkeypatch.setattr(framework.context, "get_context", lambda key: device)
    monkeypatch.setenv("MSPROBE_KEEP_QUEUES", keep)
    done = threading.Event()
    others = [threading.Thread(target=done.wait) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    framework._run_operators_at_once()
    done.set()
    for thread in others:
        thread.join()
    assert len(calls) == times
    said = "the program has threads" in capsys.readouterr().err
    assert said is (threads > 1 and keep == "")


def test_collectives_that_give_new_tensors_back(collect, monkeypatch):
    """As those of comm_func do; they have no kernels on the CPU, a function of that form stands in."""
    from mindspore.communication import comm_func

    def all_reduce(tensor, op="sum", group=None, async_op=False):
        return tensor * 2, comm_func.CommHandle() if async_op else None

    monkeypatch.setattr(comm_func, "all_reduce", all_reduce)

    def program():
        x = Tensor(np.ones(3, np.float32))
        comm_func.all_reduce(x)
        comm_func.all_reduce(x, async_op=True)[1].wait()
        comm_func.all_reduce(x, async_op=True)  # nobody waits

    dump = collect(program, level="L1")
    for n in range(3):
        record = dump.data[f"Distributed.all_reduce.{n}.forward"]
        assert record["input_args"][0]["Max"] == 1
        assert [tensor["Max"] for tensor in record.get("output", [])] == ([2] if n < 2 else [])
