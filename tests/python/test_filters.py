"""The filters that choose what is recorded."""

import json

import pytest
import torch
from torch import nn

from conftest import PrecisionDebugger, described_tensors, read_dump


def _two_layers():
    torch.manual_seed(0)
    return nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))])


def _train(model):
    return lambda: model[0](torch.ones(2, 4)).sum().backward()


def test_list_takes_names_and_what_runs_inside_modules(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", list=["Module.0.0.Linear", "relu"])
    assert {"Module.0.0.Linear.forward.0", "Functional.linear.0.forward", "Functional.relu.0.forward",
            "Module.0.0.Linear.backward.0", "Functional.linear.0.backward",
            "Functional.relu.0.backward", "Module.0.0.Linear.parameters_grad.0"} == set(dump.names)


def test_a_listed_module_takes_the_gradients_of_parameters_inside(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", list=["Module.0.Sequential"])
    assert {"Module.0.0.Linear.forward.0", "Module.0.2.Linear.parameters_grad.0"} <= set(dump.names)


def test_a_listed_module_takes_nothing_inside_at_level_l0(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="L0", list=["Sequential.forward"])
    assert dump.names == ["Module.0.Sequential.forward.0"]


def test_a_listed_module_may_begin_before_the_scope(collect, capfd):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", list=["Module.0.Sequential"],
                   scope=["Functional.linear.0.forward", "Functional.relu.0.forward"])
    assert dump.names == ["Functional.linear.0.forward", "Functional.relu.0.forward",
                          "Module.0.1.ReLU.forward.0"]
    assert "matched nothing" not in capfd.readouterr().err


def test_scope_takes_a_range(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix",
                   scope=["Module.0.1.ReLU.forward.0", "Functional.linear.1.backward"])
    assert dump.names[0] == "Functional.relu.0.forward"
    backward = [n for n in dump.names if n.endswith(".backward") and n.startswith("Functional")]
    assert backward == ["Functional.linear.1.backward"]
    assert "Functional.linear.0.forward" not in dump.names


@pytest.mark.parametrize("last,filters,names", [
    # The last one is not listed itself.
    ("Module.0.1.ReLU.forward.0", {"list": ["linear"]}, ["Functional.linear.0.forward"]),
    ("Module.0.1.ReLU.backward.0", {"list": ["linear"]},
     ["Functional.linear.0.forward", "Functional.linear.1.forward", "Functional.linear.1.backward"]),
    ("Functional.linear.1.forward", {"data_mode": ["backward"]}, []),
    ("Module.0.2.Linear.parameters_grad.0", {"list": ["linear", "Linear"]},
     ["Functional.linear.0.forward", "Functional.linear.1.forward", "Module.0.2.Linear.forward.0",
      "Functional.linear.1.backward", "Module.0.2.Linear.backward.0",
      "Module.0.2.Linear.parameters_grad.0"]),
])
def test_scope_ends_where_it_ends(last, filters, names, collect, capfd):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", scope=["Functional.linear.0.forward", last],
                   **filters)
    assert dump.names == names
    assert "matched nothing" not in capfd.readouterr().err


@pytest.mark.parametrize("mode,directions,keys", [
    (["forward"], {"forward"}, {"input_args", "input_kwargs", "output"}),
    (["backward"], {"backward"}, {"input", "output"}),
    (["forward", "output"], {"forward"}, {"output"}),
    (["input"], {"forward", "backward"}, {"input_args", "input_kwargs", "input"}),
])
def test_data_mode(mode, directions, keys, collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="L1", data_mode=mode)
    assert {n.rpartition(".")[2] for n in dump.names} == directions
    assert set().union(*(entry.keys() for entry in dump.data.values())) == keys


def test_tensor_list_saves_some_tensors_of_a_statistics_dump(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="L1", tensor_list=["linear.0"])
    saved = {n for n, e in dump.data.items() if "data_name" in json.dumps(e)}
    assert saved == {"Functional.linear.0.forward", "Functional.linear.0.backward"}
    entry = dump.data["Functional.linear.0.forward"]["input_args"][1]
    assert entry["data_name"] == "Functional.linear.0.forward.input.1.pt"
    assert dump.all["dump_data_dir"] == str(dump.directory / "dump_tensor_data")
    assert torch.equal(dump.tensor(entry), model[0][0].weight)


def test_tensor_list_saves_gradients_of_parameters(collect):
    model = _two_layers()
    model[0][2].weight = model[0][0].weight
    dump = collect(_train(model), model, level="L0", tensor_list=["0.2.Linear.parameters_grad"])
    saved = {n for n, e in dump.data.items() if "data_name" in json.dumps(e)}
    assert saved == {"Module.0.2.Linear.parameters_grad.0"}
    entry = dump.data["Module.0.2.Linear.parameters_grad.0"]["bias"][0]
    assert torch.equal(dump.tensor(entry), model[0][2].bias.grad)


def test_structure_task(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", task="structure")
    tensor = dump.data["Module.0.0.Linear.forward.0"]["input_args"][0]
    assert tensor["shape"] == [2, 4] and "Max" not in tensor and "md5" not in tensor


def _dump_steps(debugger, model, steps, **settings):
    d = debugger(level="L1", summary_mode="md5", **settings)
    for _ in range(steps):
        d.start()
        _train(model)()
        d.stop()
        d.step()
    PrecisionDebugger._forget()


def _saved(path, step=0):
    dump = read_dump(path, step)
    return {t["data_name"] for e in dump.data.values() for t in described_tensors(e) if "data_name" in t}


def test_diff_nums_bounds_the_whole_run(debugger, tmp_path):
    model = _two_layers()
    _dump_steps(debugger, model, 2, root=tmp_path / "earlier")
    with torch.no_grad():
        model[0][2].weight.mul_(2)
    _dump_steps(debugger, model, 2, task="tensor", bench_path=str(tmp_path / "earlier"), diff_nums=1)
    assert len(_saved(tmp_path / "dump")) == 1
    assert _saved(tmp_path / "dump", 1) == set()


def test_bench_path_of_another_data_mode(debugger, tmp_path, capfd):
    model = _two_layers()
    _dump_steps(debugger, model, 1, root=tmp_path / "earlier")
    with torch.no_grad():
        model[0][2].weight.mul_(2)
    _dump_steps(debugger, model, 1, task="tensor", bench_path=str(tmp_path / "earlier"), diff_nums=-1,
                data_mode=["forward", "output"])
    assert _saved(tmp_path / "dump") == {
        "Functional.linear.1.forward.output.0.pt", "Tensor.sum.0.forward.output.0.pt"}
    assert "data_mode" not in capfd.readouterr().err


def test_bench_path_saves_only_tensors_that_differ(debugger, tmp_path):
    first = debugger(level="L1", summary_mode="md5", root=tmp_path / "earlier")
    model = _two_layers()
    first.start()
    _train(model)()
    first.stop()
    first.step()
    PrecisionDebugger._forget()
    with torch.no_grad():
        model[0][2].weight.mul_(2)
    d = debugger(level="L1", task="tensor", summary_mode="md5", bench_path=str(tmp_path / "earlier"),
                 diff_nums=-1)
    d.start()
    _train(model)()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    saved = {t["data_name"] for e in dump.data.values() for t in described_tensors(e) if "data_name" in t}
    assert "Functional.linear.1.forward.input.1.pt" in saved
    assert "Functional.linear.1.forward.input.0.pt" not in saved
    assert "Functional.linear.0.forward.output.0.pt" not in saved
