"""Faults 17–23: nothing is lost, and nothing is silent."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from torch import nn

from conftest import (
    Dump, PrecisionDebugger, described_tensors, read_dump, units, watches_memory, write_config,
)
from msprobe.errors import MsprobeError

LOOP = """
    import os, sys, time
    import torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger

    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16))
    debugger = PrecisionDebugger(level="mix", task=sys.argv[1], dump_path="dump")
    print("ready", flush=True)
    for step in range(100000):
        debugger.start(model)
        for _ in range(20):
            model(torch.randn(4, 16)).sum().backward()
        debugger.stop()
        debugger.step()
"""


def _whole_records(directory):
    """Reads what a process has left: all files are JSON, and named tensor files are there."""
    dump = Dump(directory)
    for entry in dump.data.values():
        for item in described_tensors(entry):
            if "data_name" in item:
                dump.tensor(item)
    return dump


def _repair_what_is_torn(directory):
    """As the guide says: once in thousands of kills the kernel cuts a write short. Whether it did."""
    torn = [path for path in directory.glob("*.json") if not _is_json(path)]
    if torn:
        print("torn:", *torn)
        program = os.environ.get("MSPROBE_CLI", pathlib.Path(sys.executable).with_name("msprobe"))
        subprocess.run([program, "inspect", directory, "--repair"], check=True)
    return bool(torn)


def _is_json(path):
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_fault_17_killed_at_any_moment(task, tmp_path):
    import textwrap

    (tmp_path / "loop.py").write_text(textwrap.dedent(LOOP))
    chance = random.Random(7)
    found = torn = 0
    kills = int(os.environ.get("MSPROBE_KILLS", "5"))
    for attempt in range(kills):
        run = tmp_path / str(attempt)
        run.mkdir()
        process = subprocess.Popen([sys.executable, "../loop.py", task], cwd=run, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout.readline() == "ready\n"
        while not (run / "dump" / "step2").exists():
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(chance.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        steps = sorted((run / "dump").glob("step*"), key=lambda p: int(p.name[4:]))
        for number, step in enumerate(steps):
            inside = list(step.iterdir())
            finished = number < len(steps) - 1
            if not inside and not finished:
                continue  # killed between making the step's directory and that of the process
            (unit,) = inside
            if not finished:
                torn += _repair_what_is_torn(unit)
            dump = _whole_records(unit)
            if finished:
                assert sum("forward" in n and n.startswith("Module") for n in dump.names) == 60
            found += len(dump.names)
    assert found > 100
    assert torn <= 1 + kills // 200


@pytest.mark.parametrize("end", ["sys.exit(3)", "raise RuntimeError('by the program')",
                                 "os.kill(os.getpid(), 15)", "os._exit(4)", "os.abort()"])
def test_fault_17_other_ends(end, run_script, tmp_path):
    run_script(
        f"""
        import os, pathlib, sys, time
        import torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger
        model = nn.Sequential(nn.Linear(4, 4))
        debugger = PrecisionDebugger(level="mix", dump_path="dump")
        debugger.start(model)
        model(torch.randn(1, 4)).sum().backward()
        (file,) = pathlib.Path("dump/step0").glob("proc*/dump.json")
        while "Module.0.Linear.backward.0" not in file.read_text():
            time.sleep(0.02)  # the writer's thread is at most 200 ms behind
        {end}
        """,
        check=False,
    )
    names = _whole_records(units(tmp_path / "dump")[0]).names
    assert "Module.0.Linear.forward.0" in names and "Module.0.Linear.backward.0" in names


FILTERS = {
    "list": dict(list=["no_such_api"]),
    "scope": dict(scope=["Torch.sin.7.forward", "Torch.sin.9.forward"]),
    "tensor_list": dict(tensor_list=["no_such_api"]),
}


def test_structure_task_is_filtered_as_the_others(collect, capfd):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    dump = collect(lambda: model(torch.ones(1, 4)).sum().backward(), model, level="mix",
                   task="structure", list=["linear"], data_mode=["forward"])
    assert dump.data and all(name.startswith("Functional.linear") for name in dump.data)
    assert all("forward" in name for name in dump.data)
    assert "not used" not in capfd.readouterr().err


@pytest.mark.parametrize("name", FILTERS)
def test_fault_18_filters_that_match_nothing_are_named(name, debugger, tmp_path, capfd):
    d = debugger(level="L1", **FILTERS[name])
    d.start()
    torch.sin(torch.ones(1))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    text = capfd.readouterr().err
    assert f"{name} " in text and "matched nothing" in text
    entries = read_dump(tmp_path / "dump").ledger["entries"]
    if name != "tensor_list":
        assert entries["recorded"] == 0 and entries["skipped"][name] == entries["seen"] == 1


@pytest.mark.parametrize("top,word", [({"step": [50]}, "step [50]"), ({"rank": [3]}, "rank [3]")])
def test_fault_18_steps_and_ranks_that_match_nothing(top, word, debugger, capfd):
    d = debugger(level="L1", top=top)
    d.start()
    torch.sin(torch.ones(1))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert f"{word} matched nothing" in capfd.readouterr().err


@pytest.mark.parametrize("filters", [
    dict(), dict(list=["relu"]), dict(scope=["Functional.relu.1.forward", "Functional.relu.2.forward"]),
    dict(data_mode=["forward"]), dict(data_mode=["backward", "input"]),
])
def test_fault_19_the_numbers_of_the_ledger_add_up(filters, collect):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def program():
        for _ in range(4):
            model(torch.randn(2, 4)).sum().backward()

    dump = collect(program, nn.ModuleList([model]), level="mix", **filters)
    entries = dump.ledger["entries"]
    assert entries["recorded"] == len(dump.data)
    assert entries["seen"] == (entries["recorded"] + entries["lost"] + sum(entries["skipped"].values())
                               + sum(entries["not_recordable"].values()))
    assert entries["unaccounted"] == 0 and entries["seen"] > 0


def test_fault_20_a_second_run_into_the_same_directory(run_script, tmp_path):
    code = """
        import sys, torch
        from msprobe.pytorch import PrecisionDebugger
        debugger = PrecisionDebugger(config_path="config.json")
        with debugger.collect(rank_id=int(sys.argv[1])):
            torch.sin(torch.ones(1))
    """
    write_config(tmp_path, level="L1")
    run_script(code, 0)
    run_script(code, 1)  # another rank of the same run
    refused = run_script(code, 0, check=False)
    assert refused.returncode != 0
    assert "MsprobeError" in refused.stderr and "overwrite" in refused.stderr
    write_config(tmp_path, level="L1", top={"overwrite": True})
    run_script(code, 0)
    assert [u.name for u in units(tmp_path / "dump")] == ["rank0", "rank1"]


def test_fault_21_tensors_stop_at_max_bytes(collect):
    def program():
        for _ in range(8):
            torch.sin(torch.ones(1000))

    dump = collect(program, None, level="L1", task="tensor", max_bytes=20_000)
    written = [t for e in dump.data.values() for t in described_tensors(e) if "data_name" in t]
    size = sum(p.stat().st_size for p in (dump.directory / "dump_tensor_data").iterdir())
    assert 0 < size <= 20_000 + 1_000 * len(written) and 0 < len(written) < 16
    assert len(dump.data) == 8 and all(e["output"][0]["Max"] for e in dump.data.values())
    assert dump.ledger["tensors"]["over_budget"] == 16 - len(written)


def test_fault_21_a_full_disk_does_not_stop_the_program(run_script, tmp_path):
    result = run_script(
        """
        import resource, signal, torch
        from msprobe.pytorch import PrecisionDebugger
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        debugger = PrecisionDebugger(level="L1", task="tensor", dump_path="dump")
        debugger.start()
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        for _ in range(300):
            torch.sin(torch.ones(20_000))
        debugger.stop()
        debugger.step()
        print("went on")
        """
    )
    assert "went on" in result.stdout


@pytest.mark.parametrize("strict", ["0", "1"])
def test_fault_21_a_later_step_that_cannot_be_written(strict, debugger, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("MSPROBE_STRICT", strict)
    d = debugger(level="L1")
    with d.collect():
        torch.sin(torch.ones(1))
    (tmp_path / "dump" / "step1").write_text("in the way")
    if strict == "1":
        with pytest.raises(MsprobeError, match="step1"):
            d.start()
        return
    with d.collect():
        assert float(torch.cos(torch.zeros(1))) == 1
    with d.collect():
        torch.sin(torch.ones(1))
    said = capfd.readouterr()
    assert "step 1 is not collected" in said.err
    assert [line for line in said.out.splitlines() if line.startswith("dump.json is at")] == [
        f"dump.json is at {tmp_path}/dump/step{step}" for step in (0, 2)]
    PrecisionDebugger._forget()
    assert read_dump(tmp_path / "dump", 2).names == ["Torch.sin.0.forward"]


def test_fault_23_children_of_the_process_record_nothing(run_script, tmp_path):
    run_script(
        """
        import os, sys, torch
        from torch.utils.data import DataLoader, Dataset
        from msprobe.pytorch import PrecisionDebugger

        class Data(Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, i):
                return torch.sin(torch.ones(3)) * i

        if __name__ == "__main__":
            debugger = PrecisionDebugger(level="L1", dump_path="dump")
            for method in ("fork", "spawn"):
                debugger.start()
                loader = DataLoader(Data(), batch_size=2, num_workers=2, multiprocessing_context=method)
                total = sum(batch.sum() for batch in loader)
                debugger.stop()
                debugger.step()
            assert float(total) > 0
        """
    )
    for step in (0, 1):
        dump = read_dump(tmp_path / "dump", step)
        assert not any(".sin." in name for name in dump.names)
        assert any("__add__" in name or "sum" in name for name in dump.names)


@watches_memory
def test_memory_stays_flat_over_many_steps(debugger):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    d = debugger(level="mix")

    def run(steps):
        for _ in range(steps):
            d.start(model)
            model(torch.randn(2, 4)).sum().backward()
            d.stop()
            d.step()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    before = run(50)
    assert run(150) - before < 8 << 20
