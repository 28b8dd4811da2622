"""What a user calls, and the settings that choose what is recorded."""

import json

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from conftest import PrecisionDebugger, needs_safe_loading, read_dump, units, write_config
from models import Gpt, Lambda
from msprobe.errors import MsprobeError
from msprobe.pytorch import module_dump, module_dump_end


def _sin():
    torch.sin(torch.ones(1))


def test_methods_work_on_the_class(debugger, tmp_path):
    debugger(level="L1")
    PrecisionDebugger.start()
    _sin()
    PrecisionDebugger.stop()
    PrecisionDebugger.step()
    PrecisionDebugger._forget()
    assert read_dump(tmp_path / "dump").names == ["Torch.sin.0.forward"]
    with pytest.raises(MsprobeError, match="construct one first"):
        PrecisionDebugger.start()


def test_a_second_construction(debugger, tmp_path):
    first = debugger(level="L1")
    assert PrecisionDebugger(config_path=str(tmp_path / "config.json")) is first
    with pytest.raises(MsprobeError, match="other arguments"):
        PrecisionDebugger(level="L0")


@pytest.mark.parametrize("level,call,words", [
    ("mix", lambda d: d.start(), "needs a model"),
    ("L0", lambda d: d.start(3), "neither a model"),
    ("L1", lambda d: d.start(token_range=(0, 1)), "token_range needs a model"),
    ("L1", lambda d: d.start(nn.ReLU(), token_range=(3, 1)), "behind the last"),
    ("L1", lambda d: d.start(rank_id=-1), "rank_id"),
    ("L1", lambda d: d.start(rank_id=1 << 63), "rank_id"),
    ("L1", lambda d: d.save(torch.ones(1), "x"), "level debug"),
    ("debug", lambda d: d.save(torch.ones(1), "\ud800"), "UTF-8"),
    ("L1", lambda d: d.set_init_step(-1), "set_init_step"),
    ("L1", lambda d: d.set_init_step(1 << 63), "set_init_step"),
    ("L1", lambda d: d.register_custom_api(torch, "no_such"), "no function no_such"),
    ("L1", lambda d: d.restore_custom_api(torch, "relu"), "not been registered"),
])
def test_errors_of_use(level, call, words, debugger):
    d = debugger(level=level)
    with pytest.raises(MsprobeError, match=words):
        call(d)


def test_calls_in_odd_orders_are_harmless(debugger, tmp_path):
    d = debugger(level="L1")
    d.stop()
    d.step()
    d.start()
    d.start()
    _sin()
    d.stop()
    d.stop()
    d.start()
    _sin()
    d.step()
    d.step()
    d.stop()
    PrecisionDebugger._forget()
    assert read_dump(tmp_path / "dump", 1).names == ["Torch.sin.0.forward", "Torch.sin.1.forward"]


def test_messages(debugger, tmp_path, capfd):
    d = debugger(level="L1", top={"step": [0]})
    d.start()
    _sin()
    d.stop()
    d.step()
    out = capfd.readouterr().out
    assert f"dump.json is at {tmp_path}/dump/step0\n" in out
    assert "*                        msprobe ends successfully.                        *" in out
    d.start()
    _sin()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert capfd.readouterr().out == ""
    assert not (tmp_path / "dump" / "step1").exists()


def test_collect_ends_the_step_when_the_program_raises(debugger, tmp_path):
    d = debugger(level="L1")
    with pytest.raises(KeyError):
        with d.collect():
            _sin()
            raise KeyError
    with d.collect():
        _sin()
    PrecisionDebugger._forget()
    assert read_dump(tmp_path / "dump", 0).names == read_dump(tmp_path / "dump", 1).names


def test_a_list_of_models_carries_the_index(collect):
    models = [nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.ReLU())]
    dump = collect(lambda: models[1](models[0](torch.ones(1, 2))), models, level="L0")
    assert dump.names == ["Module.0.0.Linear.forward.0", "Module.1.0.ReLU.forward.0"]


def test_token_range(debugger, tmp_path):
    model = Gpt()
    ids = torch.randint(0, 32, (1, 4))
    d = debugger(level="mix")
    with d.collect(model, token_range=(1, 2)), torch.no_grad():
        for _ in range(5):
            model(ids).argmax(-1)
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    calls = [n for n in names if n.startswith("Module.norm.")]
    assert calls == ["Module.norm.LayerNorm.forward.0", "Module.norm.LayerNorm.forward.1"]
    assert sum(n.startswith("Functional.embedding") for n in names) == 2


def test_init_step(debugger, tmp_path):
    d = debugger(level="L1", top={"step": [10]})
    d.set_init_step(9)
    for _ in range(3):
        d.start()
        _sin()
        d.stop()
        d.step()
    PrecisionDebugger._forget()
    assert [p.name for p in (tmp_path / "dump").iterdir()] == ["step10"]


def test_dump_enable_switches_while_running(debugger, tmp_path):
    config = tmp_path / "config.json"
    d = debugger(level="L1", top={"dump_enable": False})
    for on in (False, True, False):
        data = json.loads(config.read_text())
        data["dump_enable"] = on
        config.write_text(json.dumps(data))
        d.start()
        _sin()
        d.stop()
        d.step()
    PrecisionDebugger._forget()
    assert [p.name for p in (tmp_path / "dump").iterdir()] == ["step1"]


def test_rank_id(debugger, tmp_path):
    d = debugger(level="L1", top={"rank": [3]})
    d.start(rank_id=3)
    _sin()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert [u.name for u in units(tmp_path / "dump")] == ["rank3"]


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


def test_scope_takes_a_range(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix",
                   scope=["Module.0.1.ReLU.forward.0", "Functional.linear.1.backward"])
    assert dump.names[0] == "Functional.relu.0.forward"
    backward = [n for n in dump.names if n.endswith(".backward") and n.startswith("Functional")]
    assert backward == ["Functional.linear.1.backward"]
    assert "Functional.linear.0.forward" not in dump.names


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
    assert torch.equal(dump.tensor(entry), model[0][0].weight)


def test_tensor_task_in_npy(collect):
    import numpy

    x = torch.randn(3, 4).t()
    dump = collect(lambda: torch.sin(x), None, level="L1", task="tensor", file_format="npy")
    entry = dump.data["Torch.sin.0.forward"]["input_args"][0]
    assert entry["data_name"].endswith(".npy")
    loaded = numpy.load(dump.directory / "dump_tensor_data" / entry["data_name"])
    assert numpy.array_equal(loaded, x.numpy())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.int64,
                                   torch.complex64, torch.bool])
def test_tensor_files_hold_the_bits(dtype, collect):
    needs_safe_loading(dtype)
    x = (torch.randn(5, 7) * 4).to(dtype)
    module = Lambda(lambda s, v: None)
    dump = collect(lambda: module(x[1:, ::2]), nn.ModuleList([module]), level="L0", task="tensor")
    loaded = dump.tensor(dump.data["Module.0.Lambda.forward.0"]["input_args"][0])
    assert loaded.dtype is dtype and loaded.shape == (4, 4)
    same = loaded.view(torch.uint8) if dtype.itemsize == 1 and dtype is not torch.bool else loaded
    expected = x[1:, ::2].contiguous()
    expected = expected.view(torch.uint8) if same.dtype is torch.uint8 else expected
    assert torch.equal(same, expected)


def test_structure_task(collect):
    model = _two_layers()
    dump = collect(_train(model), model, level="mix", task="structure")
    tensor = dump.data["Module.0.0.Linear.forward.0"]["input_args"][0]
    assert tensor["shape"] == [2, 4] and "Max" not in tensor and "md5" not in tensor


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
    saved = {t["data_name"] for e in dump.data.values() for t in _tensors(e) if "data_name" in t}
    assert "Functional.linear.1.forward.input.1.pt" in saved
    assert "Functional.linear.1.forward.input.0.pt" not in saved
    assert "Functional.linear.0.forward.output.0.pt" not in saved


def _tensors(value):
    if isinstance(value, dict):
        if "dtype" in value:
            yield value
        else:
            for item in value.values():
                yield from _tensors(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tensors(item)


def test_save_at_level_debug(debugger, tmp_path):
    d = debugger(level="debug")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d.start()
    for _ in range(2):
        y = x * 3
        d.save(y, "y")
        d.save({"k": [1, y]}, "more", save_backward=False)
        y.sum().backward()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    (unit,) = units(tmp_path / "dump")
    data = json.loads((unit / "debug.json").read_text())["data"]
    assert list(data) == ["y.0", "more.0", "y_grad.0", "y.1", "more.1", "y_grad.1"]
    assert data["y.0"]["Max"] == 6 and data["y_grad.1"]["Norm"] == pytest.approx(2**0.5)
    assert data["more.0"]["k"][0] == {"type": "int", "value": 1}


def test_custom_apis(debugger, tmp_path):
    import types

    library = types.ModuleType("library")
    exec("import torch\ndef mine(x, *, scale=2):\n    return torch.sin(x) * scale", library.__dict__)
    library.packed = torch.nn.Hardtanh()
    saved = library.mine
    d = debugger(level="L1")
    d.register_custom_api(library, "mine", "Mine")
    d.register_custom_api(library, "packed")
    with pytest.raises(MsprobeError, match="registered before"):
        d.register_custom_api(library, "mine")
    x = torch.ones(2, requires_grad=True)
    d.start()
    library.mine(x, scale=3).sum().backward()
    library.packed(torch.ones(1))
    assert library.mine is saved
    d.stop()
    d.restore_custom_api(library, "mine")
    d.start()
    library.mine(x)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    data = read_dump(tmp_path / "dump").data
    assert data["Mine.mine.0.forward"]["input_kwargs"]["scale"]["value"] == 3
    assert data["Mine.mine.0.backward"]["output"][0]["shape"] == [2]
    assert "library.packed.0.forward" in data
    assert "Mine.mine.1.forward" not in data and "Torch.sin.0.forward" in data


def test_module_dump(debugger, tmp_path):
    block = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    d = debugger(level="L0")
    d.start(nn.ModuleList([nn.Tanh()]))
    module_dump(block, "mine")
    block(torch.ones(1, 2)).sum().backward()
    module_dump_end()
    block(torch.ones(1, 2))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert "Module.mine.Sequential.forward.0" in names and "Module.mine.0.Linear.backward.0" in names
    assert "Module.mine.Sequential.forward.1" not in names


@pytest.mark.parametrize("level,has", [("ALL", {"view", "relu", "linear"}), ("FOCUS", {"relu", "linear"}),
                                       ("CORE", {"linear"})])
def test_risk_levels(level, has, collect):
    def program():
        torch.relu(F.linear(torch.ones(1, 2), torch.ones(2, 2)).view(2))

    dump = collect(program, None, level="L1", top={"risk_level": level})
    assert {n.split(".")[1] for n in dump.names} == has


def test_extra_info_off(collect):
    dump = collect(_sin, None, level="L1", top={"extra_info": False})
    assert dump.stack == {} and dump.construct == {}


def test_nested_calls_of_a_recorded_api_are_not_recorded(collect):
    dump = collect(lambda: F.cross_entropy(torch.randn(2, 3), torch.tensor([0, 1])), None, level="L1")
    assert dump.names == ["Functional.cross_entropy.0.forward"]


def test_step_that_is_left_open_is_finished_at_exit(run_script, tmp_path):
    write_config(tmp_path, level="L1")
    result = run_script(
        """
        import torch
        from msprobe.pytorch import PrecisionDebugger
        PrecisionDebugger(config_path="config.json")
        PrecisionDebugger.start()
        torch.sin(torch.ones(1))
        """
    )
    assert "msprobe ends successfully." in result.stdout
    assert read_dump(tmp_path / "dump").ledger["entries"]["recorded"] == 1


def test_import_pulls_in_nothing_heavy(run_script):
    run_script(
        """
        import sys, torch
        before = set(sys.modules)
        import msprobe.pytorch
        new = {name.split(".")[0] for name in set(sys.modules) - before}
        assert not new & {"numpy", "pandas", "yaml", "tensorboard", "mindspore", "torchvision"}, new
        """
    )


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_can_be_made_where_no_gradients_are_computed(mode, collect):
    with mode():
        dump = collect(lambda: torch.relu(torch.ones(2)), level="L1")
    assert "Torch.relu.0.forward" in dump.names
