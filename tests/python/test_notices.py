"""What is said while the program runs: it disturbs nobody, and nothing that is left out goes unsaid."""

import json

import pytest
import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump, units
from msprobe import notices

PROGRAM = """
    import os, sys
    import torch
    from msprobe.pytorch import PrecisionDebugger

    debugger = PrecisionDebugger(level="L1", dump_path="模型")
    debugger.start()
    torch.sin(torch.ones(1))
    debugger.stop()
    {before}
    debugger.step()
    print("went on", file=sys.stderr)
"""
UNREADABLE = {
    "another encoding": ("pass", {"PYTHONIOENCODING": "ascii"}),
    "a closed file": ("sys.stdout.close()", {}),
    "a reader that has gone away": ("r, w = os.pipe(); os.close(r); sys.stdout = open(w, 'w')", {}),
}


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch):
    monkeypatch.setattr(notices, "_said", set())


@pytest.mark.parametrize("name", UNREADABLE)
def test_training_goes_on_where_nobody_can_read_what_is_said(name, run_script, tmp_path):
    before, env = UNREADABLE[name]
    # The interpreter itself complains at its end about a pipe that nobody reads.
    result = run_script(PROGRAM.format(before=before), env=env, check="reader" not in name)
    assert "went on" in result.stderr and "Traceback" not in result.stderr
    assert "nothing was recorded" not in result.stderr
    assert read_dump(tmp_path / "模型").names


def test_another_model_within_a_step_is_named(debugger, tmp_path, capfd):
    models = [nn.Sequential(nn.Linear(2, 2)) for _ in range(2)]
    d = debugger(level="L0")
    for model in (models[0], None, models[0], models[1]):
        capfd.readouterr()
        if model is not None:
            d.start(model)
        d.stop()
        assert ("another model" in capfd.readouterr().err) == (model is models[1])
    d.step()
    d.start(models[1])  # a step of its own
    assert "another model" not in capfd.readouterr().err


def test_a_switch_that_is_neither_true_nor_false(debugger, tmp_path, capfd):
    d = debugger(level="L1", top={"dump_enable": True})
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "dump_enable": "false"}))
    d.start()
    torch.sin(torch.ones(1))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert not (tmp_path / "dump" / "step0").exists()
    assert 'dump_enable is "false", allowed are true and false' in capfd.readouterr().err


def test_a_rank_that_comes_too_late_is_named(debugger, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    d = debugger(level="L1")
    d.start(rank_id=2)
    d.start(rank_id=2)
    assert "rank_id" not in capfd.readouterr().err
    d.start(rank_id=5)
    d.step()
    assert "rank_id 5, it counts from the next step on" in capfd.readouterr().err
    assert [u.name for u in units(tmp_path / "dump")] == ["rank2"]
