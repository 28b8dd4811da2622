"""Level debug: what save() records, and that it needs no start()."""

import collections
import dataclasses
import json
import os

import numpy
import pytest
import torch

from conftest import PrecisionDebugger, units
from msprobe import notices


def _saved(tmp_path, step=0):
    (unit,) = units(tmp_path / "dump", step)
    return json.loads((unit / "debug.json").read_text())["data"]


def test_save_opens_its_step(debugger, tmp_path, capfd):
    debugger(level="debug")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for factor in (2, 3):
        y = x * factor
        PrecisionDebugger.save(y, "y")
        (y * 5).sum().backward()
        PrecisionDebugger.step()
    PrecisionDebugger._forget()
    for step, factor in enumerate((2, 3)):
        data = _saved(tmp_path, step)
        assert list(data) == ["y.0.debug", "y_grad.0.debug"]
        assert data["y.0.debug"]["Max"] == 2 * factor and data["y_grad.0.debug"]["Max"] == 5
    said = capfd.readouterr()
    assert "warning" not in said.err and "ends successfully" in said.out


def test_start_and_stop_may_stand_around_save(debugger, tmp_path):
    d = debugger(level="debug")
    d.save(1, "before")
    for _ in range(2):
        d.start()
        d.save(2, "inside")
        d.stop()
        d.save(3, "after")
    d.step()
    PrecisionDebugger._forget()
    assert list(_saved(tmp_path)) == [f"{name}.debug" for name in (
        "before.0", "inside.0", "after.0", "inside.1", "after.1")]


def test_a_step_of_level_debug_that_has_saved_nothing(debugger, capfd):
    d = debugger(level="debug")
    d.start()
    d.stop()
    assert "recorded" not in capfd.readouterr().err  # save() may still come
    d.step()
    assert "nothing was recorded in step 0 until now" in capfd.readouterr().err
    PrecisionDebugger._forget()
    debugger(level="debug", top={"overwrite": True})
    PrecisionDebugger._forget()
    assert "save() was never called" in capfd.readouterr().err


@pytest.mark.parametrize("top", [{"step": [1]}, {"rank": [1]}, {"dump_enable": False}])
def test_filters_apply_to_what_save_opens(top, debugger, tmp_path, capfd):
    d = debugger(level="debug", top=top)
    for step in range(3):
        d.save(step, "n")
        if "dump_enable" in top:  # it counts when the step begins
            path = tmp_path / "config.json"
            path.write_text(path.read_text().replace("false", "true"))
        d.save(step, "n")
        d.step()
    PrecisionDebugger._forget()
    steps = {"step": [1], "rank": [], "dump_enable": [1, 2]}
    assert [step for step in range(3) if units(tmp_path / "dump", step)] == steps[next(iter(top))]
    assert "came before" not in capfd.readouterr().err


def test_save_in_a_data_loader_is_named(run_script, tmp_path):
    result = run_script(
        """
        import os
        from msprobe.pytorch import PrecisionDebugger

        debugger = PrecisionDebugger(level="debug", dump_path="dump")
        for _ in range(2):
            child = os.fork()
            if child == 0:
                debugger.save(1, "x")
                debugger.save(1, "x")
                os._exit(0)
            os.waitpid(child, 0)
            debugger.save(2, "x")
        debugger.step()
        """)
    assert result.stderr.count("save() records nothing in a process that was forked") == 2
    assert _saved(tmp_path)["x.1.debug"]["value"] == 2


Named = collections.namedtuple("Named", "left right")


@dataclasses.dataclass
class Fields:
    inner: object
    count: int


def test_values_of_all_kinds(debugger, tmp_path, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    x = torch.ones(2, requires_grad=True)
    plain = {"int": 5, "text": "hello", "flag": True, "scalar": numpy.int64(3), "array": numpy.arange(3.0)}
    d = debugger(level="debug")
    d.save({"a": [x * 2, (x * 3, None)], "b": {}}, "nested")
    d.save(None, "none")
    for name, value in plain.items():
        d.save(value, name)
    d.save(torch.ones(2), "frozen")
    with torch.no_grad():
        d.save(x * 2, "without")
    d.save(x.detach(), "detached")
    d.save(torch.arange(2), "whole")
    named, fields = Named(x * 4, 1), Fields(x * 5, 2)
    d.save(named, "named")
    d.save(fields, "fields")
    (named.left + fields.inner).sum().backward()
    d.step()
    PrecisionDebugger._forget()
    data = {name.removesuffix(".debug"): value for name, value in _saved(tmp_path).items()}
    assert data["nested.0"]["a"][1][0]["Max"] == 3 and data["nested.0"]["a"][1][1] is None
    assert data["none.0"] is None
    assert {name: data[f"{name}.0"]["value"] for name in plain} == {**plain, "array": "[0.0, 1.0, 2.0]"}
    for name in ("frozen", "without", "detached", "whole"):
        assert data[f"{name}.0"]["shape"] == [2] and f"{name}_grad.0" not in data
    assert data["named.0"]["left"]["Max"] == 4 and data["fields.0"]["inner"]["Max"] == 5
    assert sorted(name for name in data if "_grad." in name) == ["fields_grad.inner.0", "named_grad.left.0"]


def test_names_are_those_of_the_known_tool(debugger, tmp_path):
    d = debugger(level="debug", task="tensor")
    x = torch.ones(2, requires_grad=True) * 2
    d.save(x, "x")
    d.save([x * 3], "list")
    x.sum().backward()
    d.step()
    PrecisionDebugger._forget()
    (unit,) = units(tmp_path / "dump")
    assert list(_saved(tmp_path)) == ["x.0.debug", "list.0.debug", "x_grad.0.debug"]
    assert sorted(os.listdir(unit / "dump_tensor_data")) == [
        "list.0.debug.0.pt", "x.0.debug.pt", "x_grad.0.debug.pt"]


class Computed(Fields):
    @property
    def count(self):
        raise ValueError("not now")

    @count.setter
    def count(self, value):
        pass


def test_a_field_that_raises_is_left_out(debugger, tmp_path):
    x = torch.ones(2, requires_grad=True)
    d = debugger(level="debug")
    d.save(Computed(x * 2, 1), "value")
    d.step()
    PrecisionDebugger._forget()
    assert list(_saved(tmp_path)["value.0.debug"]) == ["inner"]
