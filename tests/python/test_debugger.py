"""What a user calls, and the settings that choose what is recorded."""

import json
import os

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from conftest import PrecisionDebugger, needs_safe_loading, read_dump, units, write_config
from models import Lambda
from msprobe import notices
from msprobe.errors import MsprobeError


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
    assert PrecisionDebugger(config_path=tmp_path / "config.json") is first


@pytest.mark.parametrize("step", [3, 1.5, "0-2", {0}])
def test_steps_that_are_no_list(step, debugger):
    with pytest.raises(MsprobeError, match="step is .*, allowed is a list"):
        PrecisionDebugger(step=step)


def test_the_program_changes_its_directory(debugger, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text('{"level": "L1", "dump_path": "dump", "dump_enable": true}')
    d = PrecisionDebugger("c.json")
    for directory in (tmp_path / "there", tmp_path):
        with d.collect():
            _sin()
        monkeypatch.chdir(directory)
    PrecisionDebugger._forget()
    assert sorted(p.name for p in (tmp_path / "dump").iterdir()) == ["step0", "step1"]


def test_a_path_that_is_no_utf_8(debugger, tmp_path, monkeypatch):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    with pytest.raises(MsprobeError, match=r"dump_path is not UTF-8, .*odd\\udcff"):
        PrecisionDebugger(dump_path=odd)
    os.mkdir(odd)
    monkeypatch.chdir(odd)
    with pytest.raises(MsprobeError, match="dump_path is not UTF-8"):
        PrecisionDebugger(dump_path="dump")
    d = PrecisionDebugger(dump_path=tmp_path / "dump", level="L1")
    with d.collect():
        _sin()
    assert read_dump(tmp_path / "dump").names == ["Torch.sin.0.forward"]


def test_configuration_in_the_home_directory(debugger, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("HOME", str(tmp_path))
    config = {"level": "L1", "dump_path": str(tmp_path / "dump"), "dump_enable": True}
    (tmp_path / "c.json").write_text(json.dumps(config))
    with PrecisionDebugger("~/c.json").collect():
        _sin()
    PrecisionDebugger._forget()
    assert (tmp_path / "dump/step0").exists() and "cannot be read" not in capfd.readouterr().err


@pytest.mark.parametrize("level,call,words", [
    ("mix", lambda d: d.start(), "needs a model"),
    ("L0", lambda d: d.start(3), "neither a model"),
    ("L1", lambda d: d.start(token_range=(0, 1)), "token_range needs a model"),
    ("L1", lambda d: d.start(nn.ReLU(), token_range=(3, 1)), "behind the last"),
    ("mix", lambda d: d.start([]), "needs a model"),
    ("L1", lambda d: d.start({"a": nn.ReLU()}), "neither a model .* but a dict"),
    ("L1", lambda d: d.start(nn.ReLU), "the class ReLU"),
    ("L1", lambda d: d.start(nn.ReLU(), token_range="01"), "token_range is '01'"),
    ("L1", lambda d: d.start(rank_id="3"), "rank_id is '3'"),
    ("L1", lambda d: d.start(rank_id=-1), "rank_id"),
    ("L1", lambda d: d.start(rank_id=1 << 63), "rank_id"),
    ("L1", lambda d: d.save(torch.ones(1), "x"), "level debug"),
    ("debug", lambda d: d.save(torch.ones(1), "\ud800"), "UTF-8"),
    ("L1", lambda d: d.set_init_step(-1), "set_init_step"),
    ("L1", lambda d: d.set_init_step(1 << 63), "set_init_step"),
    ("L1", lambda d: d.register_custom_api(torch, "no_such"), "no function no_such"),
    ("L1", lambda d: d.register_custom_api(F, "nosuch"), "no function nosuch$"),  # not its module torch
    ("L1", lambda d: d.register_custom_api(torch, "rleu"), 'no function rleu; did you mean "relu"'),
    ("L1", lambda d: d.register_custom_api(torch, 5), "name that is a text"),
    ("L1", lambda d: d.register_custom_api(torch, "relu", ""), "name that is a text"),
    ("debug", lambda d: d.save(torch.ones(1), "x", save_backward="no"), "save_backward is \"no\""),
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


@pytest.mark.parametrize("texts,words", [
    (['{"dump_enable": false}'], "dump_enable was false"),
    (["{}"], "dump_enable was missing"),
    (["{"], "dump_enable was unreadable"),
    (["[]"], "dump_enable was unreadable"),
    (['{"dump_enable": 1}'], "dump_enable was unreadable"),
    ([None], "dump_enable was unreadable"),
    ([None, '{"dump_enable": false}', "{}", None], "dump_enable was unreadable or false or missing"),
])
def test_dump_enable_that_was_never_on(texts, words, debugger, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    d = debugger(level="L1", top={"dump_enable": True})
    for text in texts:
        (tmp_path / "config.json").unlink(missing_ok=True)
        if text is not None:
            (tmp_path / "config.json").write_text(text)
        with d.collect():
            _sin()
    PrecisionDebugger._forget()
    text = capfd.readouterr().err
    assert f"nothing was collected, {words} whenever a step began\n" in text
    assert ("cannot be read, nothing is collected:" in text) == ("unreadable" in words)


def test_a_run_that_could_not_begin_is_not_one_that_was_switched_off(debugger, tmp_path, capfd):
    d = debugger(level="L1", top={"dump_enable": True})
    (tmp_path / "dump").write_text("")
    with pytest.raises(MsprobeError):
        d.start()
    PrecisionDebugger._forget()
    assert "nothing was collected\n" in capfd.readouterr().err


def test_rank_id(debugger, tmp_path):
    d = debugger(level="L1", top={"rank": [3]})
    d.start(rank_id=3)
    _sin()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert [u.name for u in units(tmp_path / "dump")] == ["rank3"]


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


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_the_dump_is_whole_when_step_returns(task, debugger, tmp_path):
    d = debugger(level="L1", task=task)
    for step in range(3):
        with d.collect():
            for _ in range(50):
                torch.sin(torch.ones(100))
        dump = read_dump(tmp_path / "dump", step)
        assert len(dump.names) == dump.ledger["entries"]["recorded"] == 50
        assert len(list(dump.directory.rglob("*.pt"))) == (100 if task == "tensor" else 0)


class Interrupted:
    """A writer that the user does not wait for."""

    def __init__(self, writer):
        self.writer, self.waited = writer, 0

    def __getattr__(self, name):
        return getattr(self.writer, name)

    def finish_within(self, seconds):
        self.waited += 1
        if self.waited == 1:
            raise KeyboardInterrupt
        return self.writer.finish_within(seconds)


def test_the_user_interrupts_while_files_are_written(debugger, tmp_path, capfd):
    d = debugger(level="L1")
    d.start()
    _sin()
    d.stop()
    d._session.writer = Interrupted(d._session.writer)
    with pytest.raises(KeyboardInterrupt):
        d.step()
    with d.collect():
        _sin()
    PrecisionDebugger._forget()
    for step in (0, 1):
        assert read_dump(tmp_path / "dump", step).ledger["entries"]["recorded"] == 1
    assert "nothing was" not in capfd.readouterr().err


def test_a_thread_is_in_step_when_the_program_ends(run_script, tmp_path):
    write_config(tmp_path, level="L1", task="tensor")
    run_script(
        """
        import sys, threading
        import torch
        from msprobe.pytorch import PrecisionDebugger
        debugger = PrecisionDebugger(config_path="config.json")
        debugger.start()
        for _ in range(1000):
            torch.sin(torch.randn(100, 100))
        debugger.stop()
        threading.Thread(target=debugger.step, daemon=True).start()
        while debugger._session.writer is not None:
            pass
        sys.exit(0)
        """
    )
    assert read_dump(tmp_path / "dump").ledger["entries"]["recorded"] == 1000


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
