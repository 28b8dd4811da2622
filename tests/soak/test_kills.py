"""SIGKILL at random moments."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BUILD, CLI, ROOT, SAMPLE, check_outputs, run, seconds_of, times


def test_writers(row):
    rounds = times(10)
    done = run([BUILD / "bin/msprobe_dump_test", "--gtest_filter=DumpWriterCrashTest.KillLosesNothing*",
                f"--gtest_repeat={rounds}", "--gtest_break_on_failure"])
    assert done.returncode == 0, done.stdout[-3000:]
    row("SIGKILL of the C++ writer", rounds * 100, "all records flushed before are there, files valid", "0 lost")


def test_training(row):
    kills = times(50)
    environment = os.environ | {"MSPROBE_KILLS": str(kills), "MSPROBE_STRICT": "1"}
    done = run([sys.executable, "-m", "pytest", "-q", "-s", "tests/python/test_kept.py", "-k", "killed_at_any_moment"],
               cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout[-3000:]
    row("SIGKILL of a training under torch", 2 * kills, "finished steps whole, files valid or repaired", f"0 lost, "
        f"{done.stdout.count('torn: ')} repaired")


@pytest.mark.parametrize("output_format", ["vis", "db"])
def test_graph(row, tmp_path, output_format):
    ranks, kills, whole = 40, times(100), 0
    for side in ("target", "golden"):
        (tmp_path / side).mkdir()
        for rank in range(ranks):
            os.symlink(SAMPLE / side / "step0/rank0", tmp_path / side / f"rank{rank}")
    command = [CLI, "graph", "target", "golden", "--format", output_format, "-o"]
    usual = seconds_of([*command, "whole"], cwd=tmp_path)
    chance = random.Random(1)
    for number in range(kills):
        out = tmp_path / f"out{number}"
        job = subprocess.Popen([*command, out], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * usual)
        job.kill()
        job.wait()
        whole += check_outputs(out)
    row(f"SIGKILL of `msprobe graph --format {output_format}`, {ranks} ranks", kills,
        "a file is whole or has no final name", f"{whole} whole files, 0 half ones")


def ask(port: int, method: str, path: str, body: object = None) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
    connection.request(method, "/api/" + path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def unmatched_dumps(directory: Path, nodes: int) -> None:
    for side, letter in (("target", "t"), ("golden", "g")):
        folder = directory / side
        folder.mkdir(parents=True)
        tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": 0.0,
                  "Mean": 0.5, "Norm": 1.0, "requires_grad": False}
        names = [f"Module.{letter}{i}.Linear.forward.0" for i in range(nodes)]
        data = {name: {"input_args": [tensor], "input_kwargs": {}, "output": [tensor]} for name in names}
        (folder / "dump.json").write_text(json.dumps({"task": "statistics", "level": "L0", "data": data}))
        (folder / "construct.json").write_text(json.dumps(dict.fromkeys(names)))
        (folder / "stack.json").write_text("{}")


def test_saving_of_matches(row, tmp_path):
    nodes, kills, saved = 400, times(100), 0
    unmatched_dumps(tmp_path, nodes)
    done = run([CLI, "graph", "target", "golden", "-o", "out"], cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (file,) = (path.name for path in (tmp_path / "out").glob("*.vis"))
    matches = tmp_path / "out" / f"{file}.matches.json"
    chance = random.Random(2)
    for _ in range(kills):
        matches.unlink(missing_ok=True)
        server = subprocess.Popen([CLI, "view", "out"], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        while ask(port, "GET", f"open?file={file}")[1].get("state") != "ready":
            time.sleep(0.01)
        killer = subprocess.Popen(["sh", "-c", f"sleep {chance.random() * 0.3}; kill -9 {server.pid}"])
        acknowledged = 0
        try:
            for node in range(1, nodes):
                status, _ = ask(port, "POST", f"matches?file={file}&u=0", {"t": node, "g": node, "children": False})
                assert status == 200
                acknowledged += 1
        except (OSError, http.client.HTTPException):
            pass
        killer.wait()
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
        kept = json.loads(matches.read_text()) if matches.exists() else {}
        text = json.dumps(kept)
        assert text.count("Module.t") >= acknowledged, (acknowledged, text[:500])
        saved += acknowledged
    row("SIGKILL of the viewer while matches are saved", kills, "every acknowledged match is kept",
        f"{saved} matches acknowledged, 0 lost")
