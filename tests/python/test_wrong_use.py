"""What the collector is told in a way that records something else than was meant: a warning says so."""

import copy
import json

import pytest
import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump
from models import Lambda
from msprobe import notices


def _model():
    return nn.Sequential(nn.Linear(2, 2), nn.ReLU())


def _run(model):
    model(torch.ones(1, 2)).sum().backward()


@pytest.mark.parametrize("second,stand", [
    ({"level": "mix", "dump_path": "there"}, 'level "L1", dump_path "'),
    ({"level": "L1", "statistics": {"list": ["relu"]}}, "no statistics;"),
    ({"level": "L1"}, None),
    ({"level": "L1", "dump_enable": True}, None),
    (None, None),
], ids=["two", "a section", "the same", "the switch", "no file"])
def test_a_second_debugger_with_other_settings(second, stand, tmp_path, debugger, capfd, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    path = tmp_path / "config.json"
    first = {"task": "statistics", "level": "L1", "dump_path": str(tmp_path / "dump"), "unknown": 1}
    path.write_text(json.dumps(first))
    d = PrecisionDebugger(str(path), step=[0, 1])
    capfd.readouterr()
    path.unlink() if second is None else path.write_text(json.dumps({**first, **second}))
    assert PrecisionDebugger(str(path), step=(0, 1)) is d and PrecisionDebugger(str(path), step=(0, 1)) is d
    said = capfd.readouterr().err
    if stand is None:
        assert said == ""
    else:
        assert said.count("a second PrecisionDebugger changes nothing") == 1 and stand in said


NOT_CALLED = "no call of the model given to start()"
NO_MODULES = "only modules inside the model given to start() are recorded"
TWICE = "start() came again"


def _notes(tmp_path, step=0):
    """Those about what is looked at here: once a process has compiled something, each ledger says so."""
    return [note for note in read_dump(tmp_path / "dump", step).ledger["notes"]
            if note.startswith((NOT_CALLED, NO_MODULES, TWICE))]


def _functional():
    """Calls no module of its own."""
    return Lambda(lambda s, x: torch.relu(x) * s.weight, weight=nn.Parameter(torch.ones(2)))


@pytest.mark.parametrize("level,given,run,text", [
    ("mix", _model, copy.deepcopy, NOT_CALLED),
    ("L0", _model, copy.deepcopy, NOT_CALLED),
    ("mix", lambda: nn.Linear(2, 2), copy.deepcopy, NOT_CALLED),
    ("mix", lambda: [_model(), _model()], lambda models: copy.deepcopy(models[1]), NOT_CALLED),
    ("mix", lambda: nn.Linear(2, 2), lambda model: model, NO_MODULES),
    ("mix", lambda: [nn.Linear(2, 2), nn.Linear(2, 2)], lambda models: models[1], NO_MODULES),
    ("mix", _functional, lambda model: model, NO_MODULES),
    ("mix", _model, lambda model: model, None),
    ("L0", _model, lambda model: model[0], None),  # a part of it
    ("mix", lambda: nn.Sequential(_functional()), lambda model: model, None),
    ("mix", lambda: [_model(), _model()], lambda models: models[1], None),
    ("mix", _model, lambda model: torch.jit.trace(model, torch.ones(1, 2)), NOT_CALLED),
    ("mix", lambda: torch.jit.trace(_model(), torch.ones(1, 2)), lambda model: model, None),
    ("mix", lambda: torch.fx.symbolic_trace(_model()), lambda model: model, None),
    ("L1", _model, copy.deepcopy, None),
])
def test_a_model_that_is_not_the_one_that_runs(level, given, run, text, debugger, tmp_path, capfd):
    model = given()
    runs = run(model)
    d = debugger(level=level)
    for _ in range(2):
        with d.collect(model):
            _run(runs)
    said = capfd.readouterr().err
    for known in (NOT_CALLED, NO_MODULES):
        assert said.count(known) == (known == text)
    for step in range(2):
        notes = _notes(tmp_path, step)
        assert len(notes) == (text is not None) and all(text in note for note in notes)


@pytest.mark.parametrize("config", [{"list": ["nowhere"]}, {"scope": ["Torch.a.0.forward", "Torch.b.0.forward"]}])
def test_a_model_of_which_filters_leave_out_all(config, debugger, capfd):
    model = _model()
    with debugger(level="mix", **config).collect(model):
        _run(model)
    assert NOT_CALLED not in capfd.readouterr().err


@pytest.mark.parametrize("stops", [False, True])
def test_a_program_that_ends_before_its_model_runs(stops, debugger, capfd):
    d = debugger(level="mix")
    d.start(_model())
    if stops:
        d.stop()
    PrecisionDebugger._forget()
    assert (NOT_CALLED in capfd.readouterr().err) is stops


def test_a_model_that_runs_inside_a_registered_function(debugger, capfd):
    class Library:
        @staticmethod
        def generate(model):
            _run(model)

    model = _model()
    d = debugger(level="mix")
    d.register_custom_api(Library, "generate", "Library")
    with d.collect(model):
        Library.generate(model)
    assert NOT_CALLED not in capfd.readouterr().err


@pytest.mark.parametrize("calls,told", [
    (["start", "start"], True),
    (["start", "step", "start"], False),
    (["start", "stop", "start"], False),  # leaves out what lies between
])
def test_a_start_that_comes_twice(calls, told, debugger, tmp_path, capfd):
    model = _model()
    d = debugger(level="mix")
    for call in calls:
        d.start(model) if call == "start" else getattr(d, call)()
        _run(model)
    d.start(model) if told else None  # once a process
    d.stop()
    d.step()
    assert capfd.readouterr().err.count("step 0: start() came again without stop()") == told
    assert len(_notes(tmp_path)) == told


def test_an_exception_that_passes_stop_and_step(debugger, tmp_path, capfd):
    model = _model()
    d = debugger(level="mix")
    for x in (torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2)):
        d.start(model)
        try:
            model(x)
        except RuntimeError:
            continue
        d.stop()
        d.step()
    assert "step 1: start() came again without stop()" in capfd.readouterr().err
    assert [len(_notes(tmp_path, step)) for step in (0, 1)] == [0, 1]


def test_a_model_whose_modules_cannot_be_listed(debugger, tmp_path):
    deep = nn.Linear(2, 2)
    for _ in range(3000):
        deep = nn.Sequential(deep)
    model = _model()
    d = debugger(level="L0")
    with pytest.raises(RecursionError):
        d.start(deep)
    for step in range(2):
        d.start(model)
        _run(model)
        d.stop()
        d.step()
    PrecisionDebugger._forget()
    for step in range(2):
        assert "Module.0.Linear.forward.0" in read_dump(tmp_path / "dump", step=step).names
