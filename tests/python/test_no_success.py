"""What is said when a run is no success, and that nothing then says that it was one."""

import pytest
import torch

from conftest import PrecisionDebugger
from msprobe.errors import MsprobeError

SUCCESS = "ends successfully"


def _step(d):
    d.start()
    torch.sin(torch.ones(1))
    d.stop()
    d.step()


def test_a_start_that_fails(debugger, tmp_path, capfd):
    (tmp_path / "dump").write_text("a file")
    with pytest.raises(MsprobeError, match="a file stands where a directory is needed"):
        debugger(level="L1").start()
    PrecisionDebugger._forget()
    said = capfd.readouterr()
    assert SUCCESS not in said.out
    assert "nothing was collected" in said.err


def test_start_is_never_called(debugger, capfd):
    debugger(level="L1")
    PrecisionDebugger._forget()
    said = capfd.readouterr()
    assert SUCCESS not in said.out
    assert "start() was never called" in said.err


@pytest.mark.parametrize("steps,warned", [(0, True), (1, False)])
def test_step_is_never_called(steps, warned, debugger, capfd):
    d = debugger(level="L1")
    for _ in range(3):
        d.start()
        torch.sin(torch.ones(1))
        d.stop()
    for _ in range(steps):
        d.step()
    PrecisionDebugger._forget()
    assert ("step() was never called: what 3 start() began" in capfd.readouterr().err) is warned


@pytest.mark.parametrize("config,words", [
    ({}, "nothing was recorded"),
    ({"list": ["relu"]}, 'list ["relu"] matched nothing'),
])
def test_steps_without_records(config, words, debugger, capfd):
    d = debugger(level="L1", **config)
    d.start()
    if config:
        torch.sin(torch.ones(1))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    said = capfd.readouterr()
    assert SUCCESS not in said.out
    assert words in said.err


@pytest.mark.parametrize("text,words", [
    (None, "cannot be read"),
    ("", "no whole dump"),
    ('{"data": {"Torch.sin.0.forward": {"input_args": [', "no whole dump"),
    ("[]", "no whole dump"),
    ('{"data": 1}', "no whole dump"),
])
def test_bench_path_without_a_whole_dump(text, words, debugger, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("msprobe.notices._said", set())
    unit = tmp_path / "bench" / "step1" / "rank0"
    unit.mkdir(parents=True)
    if text is not None:
        (unit / "dump.json").write_text(text)
    config = {"level": "L1", "task": "tensor", "summary_mode": "md5",
              "bench_path": str(tmp_path / "bench")}
    d = debugger(**config)
    d.set_init_step(1)
    with pytest.raises(MsprobeError, match=words) as error:
        d.start()
    assert str(error.value).endswith(str(unit / "dump.json"))
    PrecisionDebugger._forget()
    d = debugger(**config)
    _step(d)  # step 0, of which bench_path has nothing
    _step(d)  # a program that has begun to train goes on
    assert words in capfd.readouterr().err
