"""What is said when a run is no success, and that nothing then says that it was one."""

import pytest
import torch

from conftest import PrecisionDebugger, units
from msprobe.errors import MsprobeError

SUCCESS = "ends successfully"


def _step(d):
    d.start()
    torch.sin(torch.ones(1))
    d.stop()
    d.step()


def test_a_start_that_fails(debugger, tmp_path, capfd):
    d = debugger(level="L1")
    (tmp_path / "dump").write_text("a file")
    with pytest.raises(MsprobeError, match="a file stands where a directory is needed"):
        d.start()
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


@pytest.mark.parametrize("config,words", [
    ({"list": ["relu", "sin"]}, 'list ["relu"] matched nothing until now (step 0)'),
    ({"scope": ["Torch.sin.0.forward", "Torch.relu.0.forward"]},
     'scope ["Torch.relu.0.forward"] matched nothing until now (step 0)'),
    ({"tensor_list": ["relu"]}, 'tensor_list ["relu"] matched nothing until now (step 0)'),
    ({"data_mode": ["backward"]}, "nothing was recorded in step 0 until now"),
])
def test_fault_18_what_matches_nothing_is_said_at_the_first_stop(config, words, debugger, capfd):
    d = debugger(level="L1", **config)
    for step in range(2):
        d.start()
        torch.sin(torch.ones(1))
        d.stop()
        assert capfd.readouterr().err.count(words) == (step == 0)
        d.step()
        assert "until now" not in capfd.readouterr().err


def test_what_backward_matches_is_waited_for(debugger, capfd):
    d = debugger(level="L1", list=["sin.0.backward", "relu.0.backward"])
    d.start()
    y = torch.sin(torch.ones(1, requires_grad=True))
    d.stop()
    assert "until now" not in capfd.readouterr().err
    y.backward()
    d.step()
    assert 'list ["relu.0.backward"] matched nothing until now (step 0)' in capfd.readouterr().err


@pytest.mark.parametrize("top,words", [
    ({"step": [5]}, "step [5] matched nothing until now, this is step 0"),
    ({"rank": [5]}, "rank [5] matched nothing until now, this process has no rank, which counts as rank 0"),
])
def test_fault_18_steps_and_ranks_that_are_left_out_are_said_at_the_first_stop(top, words, debugger, capfd):
    d = debugger(level="L1", top=top)
    d.stop()  # start() has not asked yet
    d.step()
    assert "until now" not in capfd.readouterr().out
    d.set_init_step(0)
    for step in range(2):
        d.start()
        d.stop()
        assert capfd.readouterr().out.count(words) == (step == 0)
        d.step()
        assert "until now" not in capfd.readouterr().out


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


def test_a_rank_that_becomes_known_too_late(debugger, tmp_path, capfd):
    d = debugger(level="L1", top={"rank": [0]})
    d.start()
    torch.sin(torch.ones(1))
    d.start(rank_id=1)  # as when the process group has appeared
    torch.sin(torch.ones(1))
    d.stop()
    d.step()
    _step(d)
    PrecisionDebugger._forget()
    said = capfd.readouterr()
    assert said.err.count("rank [0] leaves this process out, which has become rank 1 after start()") == 1
    assert SUCCESS not in said.out and list((tmp_path / "dump").iterdir()) == []


@pytest.mark.parametrize("again", [False, True])
def test_a_rank_that_is_left_out_as_long_as_it_is_not_known(again, debugger, tmp_path, capfd):
    d = debugger(level="L1", top={"rank": [1]})
    d.start()
    if again:
        d.start(rank_id=1)
        torch.sin(torch.ones(1))
    d._session._rank_id = 1  # as when the process group has appeared
    d.stop()
    d.step()
    _step(d)
    PrecisionDebugger._forget()
    said = capfd.readouterr()
    words = "rank [1] matched nothing in step 0 before this process had become rank 1"
    assert said.err.count(words) == 1 and SUCCESS in said.out
    dumped = [[unit.name for unit in units(tmp_path / "dump", step)] for step in range(2)]
    assert dumped == [["rank1"] if again else [], ["rank1"]]
