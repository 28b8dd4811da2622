"""What a user chooses: filters, models, ranks, calls; in plain MindSpore and on MSAdapter."""

import os
import types

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

from conftest import read_dump
from msprobe.mindspore import MsprobeError, PrecisionDebugger, module_dump, module_dump_end

X = np.random.RandomState(1).randn(3, 8).astype(np.float32)

if "MSPROBE_TEST_MSADAPTER" in os.environ:
    import torch
    import torch.nn.functional as F

    WORD, LAYER, tensor = "Module", "Linear", torch.tensor

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
            self.fc3 = torch.nn.Linear(8, 2)

        def forward(self, x):
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    def weights_of(net):
        return tuple(net.parameters())

    def twice(x):
        return torch.sum(x * 2)

    SUM, relu = "Torch.sum", F.relu
else:
    WORD, LAYER, tensor = "Cell", "Dense", Tensor

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Dense(8, 8), nn.Dense(8, 8)
            self.fc3 = nn.Dense(8, 2)

        def construct(self, x):
            return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))

    def weights_of(net):
        return net.trainable_params()

    def twice(x):
        return mint.sum(x * 2)

    SUM, relu = "Mint.sum", ops.relu


def name(layer, rest):
    return f"{WORD}.{layer}.{LAYER}.{rest}"


def train(net):
    step = ms.value_and_grad(lambda data: twice(net(data)), None, weights_of(net))
    step(tensor(X))


def test_scope_at_l0(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="L0",
                   scope=[name("fc2", "forward.0"), name("fc2", "backward.0")])
    assert dump.names[:2] == [name("fc2", "forward.0"), name("fc3", "forward.0")]
    assert name("fc2", "backward.0") in dump.names
    assert not any("fc1" in n for n in dump.names if "grad" not in n)


def test_scope_at_l1(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="L1",
                   scope=["Functional.relu.0.forward", "Functional.relu.1.forward"])
    assert dump.names[0] == "Functional.relu.0.forward"
    assert dump.names[-1] == "Functional.relu.1.forward"
    assert f"{SUM}.0.forward" not in dump.names
    assert dump.ledger["entries"]["skipped"]["scope"] > 0


def test_scope_at_mix_takes_either(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="mix",
                   scope=["Functional.relu.0.forward", name("fc2", "forward.0")])
    assert dump.names[0] == "Functional.relu.0.forward"
    assert dump.names[-1] == name("fc2", "forward.0")
    assert len(dump.names) > 2  # what runs inside fc2


def test_list_at_mix_takes_what_runs_inside(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="mix", list=["fc2"])
    inside = [n for n, parent in dump.construct.items() if parent == name("fc2", "forward.0")]
    assert inside and set(inside) <= set(dump.names)
    assert not any(n.startswith(f"{WORD}.fc1") or "relu" in n for n in dump.names)


@pytest.mark.parametrize("mode, forward, backward", [
    (["forward"], {"input_args", "input_kwargs", "output", "parameters"}, set()),
    (["backward", "input"], set(), {"input"}),
    (["output"], {"output", "parameters"}, {"output"}),
])
def test_data_mode(collect, mode, forward, backward):
    net = Net()
    dump = collect(lambda: train(net), net, level="L0", data_mode=mode)
    keys = {n: set(dump.data[n]) for n in dump.names if "_grad" not in n}
    assert keys.get(name("fc2", "forward.0"), set()) == forward
    assert keys.get(name("fc2", "backward.0"), set()) == backward


def test_tensor_list_saves_only_the_named(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="L0", tensor_list=[name("fc2", "forward.0")])
    files = sorted(p.name for p in (dump.directory / "dump_tensor_data").iterdir())
    assert files == [name("fc2", f"forward.0.{end}.npy") for end in (
        "input.0", "output.0", "parameters.bias", "parameters.weight")]


def test_rank_that_is_wanted(collect):
    net = Net()
    dump = collect(lambda: train(net), net, level="L0", top={"rank": [0, "2-3"]},
                   start={"rank_id": 3})
    assert dump.directory.name == "rank3"


def test_rank_that_is_not_wanted(debugger, tmp_path, capsys):
    net = Net()
    d = debugger(level="L0", top={"rank": [5]})
    d.start(net, rank_id=1)
    train(net)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert not (tmp_path / "dump").exists()
    assert "rank [5] matched nothing, this process is rank 1" in capsys.readouterr().err


def test_filter_that_matches_nothing_is_said(collect, capsys):
    net = Net()
    dump = collect(lambda: train(net), net, level="L0", list=["no_such_layer"])
    assert dump.names == []
    assert 'list ["no_such_layer"] matched nothing' in capsys.readouterr().err


@pytest.mark.parametrize("is_another", [False, True])
def test_a_model_that_does_not_run_is_said(is_another, collect, capsys):
    net = Net()
    collect(lambda: train(net), Net() if is_another else net, level="mix")
    assert ("no call of the model given to start()" in capsys.readouterr().err) == is_another


def test_token_range(collect):
    net = Net()
    dump = collect(lambda: [net(tensor(X)) for _ in range(4)], net, level="L0",
                   start={"token_range": [1, 2]})
    assert [n for n in dump.names if "fc1" in n] == [
        name("fc1", "forward.0"), name("fc1", "forward.1")]


def test_token_range_needs_a_model(debugger):
    with pytest.raises(MsprobeError, match="token_range needs a model"):
        debugger(level="L1").start(token_range=(0, 1))


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_models(collect, kind):
    first, second = Net(), Net()
    dump = collect(lambda: (train(first), train(second)), kind([first, second]), level="L0")
    for index in (0, 1):
        assert f"{WORD}.{index}.fc1.{LAYER}.forward.0" in dump.names
        assert f"{WORD}.{index}.fc1.{LAYER}.backward.0" in dump.names
        assert f"{WORD}.{index}.fc1.{LAYER}.parameters_grad.0" in dump.names


def test_part_of_a_model(collect):
    net, whole = Net(), types.SimpleNamespace(name="whole")
    whole.part = net
    dump = collect(lambda: train(whole.part), whole.part.fc2, level="L1")
    assert f"{SUM}.0.forward" in dump.names


def test_custom_apis(debugger, tmp_path):
    library = types.ModuleType("library")
    library.twice = twice
    library.scaled = lambda x, *, scale=2: twice(x) * scale
    d = debugger(level="L1")
    d.register_custom_api(library, "scaled", "Mine")
    d.register_custom_api(library, "twice")
    with pytest.raises(MsprobeError, match="registered before"):
        d.register_custom_api(library, "twice")
    d.start()
    ms.grad(lambda x: library.scaled(x, scale=3))(tensor(X))
    d.stop()
    d.restore_custom_api(library, "scaled")
    d.step()
    PrecisionDebugger._forget()
    data = read_dump(tmp_path / "dump").data
    assert data["Mine.scaled.0.forward"]["input_kwargs"]["scale"]["value"] == 3
    assert data["Mine.scaled.0.backward"]["output"][0]["Max"] == 6
    assert "Mine.scaled.1.forward" not in data


def test_module_dump(debugger, tmp_path):
    watched, other = Net(), Net()
    d = debugger(level="L0")
    d.start(watched)
    module_dump(other, "mine")
    train(other)
    module_dump_end()
    train(other)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert f"{WORD}.mine.Net.forward.0" in names
    assert f"{WORD}.mine.fc1.{LAYER}.backward.0" in names
    assert f"{WORD}.mine.Net.forward.1" not in names


def test_wrong_module_dump(debugger):
    debugger(level="L0")
    with pytest.raises(MsprobeError, match="it needs a module of the framework"):
        module_dump("net", "mine")


def test_list_of_apis_can_be_edited(collect, tmp_path, monkeypatch, capsys):
    from msprobe import notices
    from msprobe.mindspore import api_calls

    monkeypatch.setattr(notices, "_said", set())
    category = "functional" if WORD == "Module" else "ops"
    path = tmp_path / "support_wrap_ops.yaml"
    path.write_text(f"{category}:\n  - relu\n  - no_such_api\nfunctionel:\n  - gelu\n")
    monkeypatch.setattr(api_calls, "LIST_PATH", str(path))
    net = Net()
    dump = collect(lambda: net(tensor(X)), net.fc2, level="L1")
    assert {n.split(".")[1] for n in dump.names if not n.startswith("Primitive")} == {"relu"}
    said = capsys.readouterr().err
    assert f"1 listed APIs do not exist here: {category}.no_such_api" in said
    assert 'the category "functionel" is not used; did you mean "functional"?' in said


def test_memory_of_tensors_that_were_read_is_given_back(collect):
    most = []

    def run():
        for i in range(12):
            relu(tensor(np.full((4 << 20,), i, np.float32)))  # 16 MiB
            with open("/proc/self/statm") as file:
                most.append(int(file.read().split()[1]) * 4096)

    relus = [record for name, record in collect(run, level="L1").data.items() if ".relu." in name]
    assert [record["output"][0]["Max"] for record in relus] == list(range(12))
    assert most[-1] - most[2] < 128 << 20
