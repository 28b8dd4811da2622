"""System calls that fail: interrupted, slow, over quota, a clock that jumps, a network mount that dies."""

from __future__ import annotations

import http.client
import os
import random
import re
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BUILD, CLI, SAMPLE, check_outputs, run, seconds_of, times


@pytest.fixture(scope="session")
def shim(tmp_path_factory) -> Path:
    library = tmp_path_factory.mktemp("shim") / "faulty_calls.so"
    source = Path(__file__).with_name("faulty_calls.c")
    done = run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, source, "-ldl"])
    assert done.returncode == 0, done.stdout
    return library


def environment(shim: Path, fault: str, **more: object) -> dict[str, str]:
    return os.environ | {"LD_PRELOAD": str(shim), "FAULT": fault} | {key: str(value) for key, value in more.items()}


def graph(out: Path, output_format: str) -> list[object]:
    return [CLI, "graph", SAMPLE / "target", SAMPLE / "golden", "-o", out, "--format", output_format]


def content(directory: Path) -> str:
    """Of the one file in there."""
    (path,) = directory.iterdir()
    if path.name.endswith(".vis.db"):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            return "\n".join(database.iterdump())
    return path.read_text()


def same_graphs(shim: Path, tmp_path: Path, fault: str, rounds: int) -> None:
    for output_format in ("vis", "db"):
        sound = tmp_path / output_format
        assert run(graph(sound, output_format)).returncode == 0
        for number in range(rounds):
            out = tmp_path / f"{output_format}{number}"
            done = run(graph(out, output_format), env=environment(shim, fault))
            assert done.returncode == 0, done.stdout
            assert content(out) == content(sound)


def writer_tests(shim: Path, fault: str) -> int:
    done = run([BUILD / "bin/msprobe_dump_test", "--gtest_brief=1"], env=environment(shim, fault))
    assert done.returncode == 0, done.stdout[-3000:]
    return int(re.search(r"(\d+) tests? from", done.stdout)[1])


def test_interrupted_calls(row, shim, tmp_path):
    rounds = times(20)
    same_graphs(shim, tmp_path, "eintr", rounds)
    count = writer_tests(shim, "eintr")
    row("every third read, write and fsync interrupted (EINTR), writes cut short", 2 * rounds,
        "the files are the same", f"all the same; {count} tests of the writer pass")


def test_slow_disk(row, shim, tmp_path):
    rounds = times(5)
    same_graphs(shim, tmp_path, "slow", rounds)
    count = writer_tests(shim, "slow")
    row("slow disk: 2 ms for every write", 2 * rounds, "the files are the same",
        f"all the same; {count} tests of the writer pass")


def test_quota(row, shim, tmp_path):
    failed, count = 0, times(50)
    for output_format in ("vis", "db"):
        whole = tmp_path / output_format
        assert run(graph(whole, output_format)).returncode == 0
        enough = sum(path.stat().st_size for path in whole.iterdir()) * 3 // 2 + (1 << 19)
        for limit in (enough * step // count for step in range(count + 1)):
            out = tmp_path / f"{output_format}{limit}"
            done = run(graph(out, output_format), env=environment(shim, "quota", FAULT_BYTES=limit))
            assert done.returncode in (0, 4), done.stdout
            assert done.returncode == 0 or "[ERROR]" in done.stdout, done.stdout
            failed += done.returncode == 4
            assert check_outputs(out) == (done.returncode == 0)
    assert 0 < failed < 2 * (count + 1)
    row("quota used up (EDQUOT from write)", 2 * (count + 1), "no half file, exit 4",
        f"{failed} refused, the rest whole, 0 half files")


def test_jumping_clock(row, shim, tmp_path):
    """Names of files hold the time: none may be written over when it comes again."""
    rounds = times(50)
    for _ in range(rounds):
        done = run(graph(tmp_path / "out", "vis"), env=environment(shim, "clock"))
        assert done.returncode == 0, done.stdout
    assert check_outputs(tmp_path / "out") == rounds
    writer_tests(shim, "clock")
    requests = times(500)
    server = subprocess.Popen([CLI, "view", tmp_path / "out", "--port", "0"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(shim, "clock"))
    try:
        assert server.stdout
        port = next(int(match[1]) for line in server.stdout if (match := re.search(r"http://127.0.0.1:(\d+)", line)))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for _ in range(requests):
            connection.request("GET", "/api/files")
            answer = connection.getresponse()
            assert answer.status == 200 and len(answer.read()) > 2
    finally:
        server.terminate()
        server.communicate(timeout=60)
    row("a clock that jumps by up to a year at every look", f"{rounds} files, {requests} requests",
        "no file lost or written over, the server answers", "all there, all answered")


def test_dead_network_mount(row, tmp_path):
    """A FUSE file system whose process dies: what sshfs and the like do when the network goes."""
    if not shutil.which("bindfs") or not os.access("/dev/fuse", os.W_OK):
        pytest.skip("bindfs or /dev/fuse is missing")
    rounds, codes, chance, usual = times(30), [], random.Random(5), 0.0
    ranks = 60
    for side in ("target", "golden"):
        for rank in range(ranks):
            shutil.copytree(SAMPLE / side / "step0/rank0", tmp_path / side / f"rank{rank}")
    for number in range(rounds):
        share = tmp_path / f"share{number}"
        share.mkdir()
        keeper = subprocess.Popen(["bindfs", "-f", tmp_path / "target", share], stderr=subprocess.DEVNULL)
        try:
            while not os.path.ismount(share):
                assert keeper.poll() is None, "bindfs does not run"
                time.sleep(0.01)
            out = tmp_path / f"out{number}"
            command = [CLI, "graph", share, tmp_path / "golden", "-o"]
            usual = usual or seconds_of([*command, tmp_path / "whole"])
            job = subprocess.Popen([*command, out], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(chance.random() * usual)
            keeper.kill()
            text, _ = job.communicate(timeout=120)
        finally:
            keeper.kill()
            keeper.wait()
            run(["umount", "-l", share])
        assert job.returncode in (0, 2, 3, 4), (job.returncode, text)
        assert job.returncode == 0 or ("[ERROR]" in text and "Traceback" not in text), text
        codes.append(job.returncode)
        check_outputs(out)
    row("network mount (FUSE) that dies while comparing", rounds, "clear error, no half file",
        f"{codes.count(0)} finished before, {len(codes) - codes.count(0)} refused")
