"""What the system refuses: no half files, clear words, an exit code that says so."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CLI, SAMPLE, check_outputs, run, seconds_of, times


def graph(out: Path, output_format: str = "vis", target: Path | None = None) -> list[object]:
    return [CLI, "graph", target or SAMPLE / "target", SAMPLE / "golden", "-o", out, "--format", output_format]


def said(text: str) -> bool:
    return "[ERROR]" in text and "Traceback" not in text


@contextlib.contextmanager
def mounted(directory: Path, options: str) -> Iterator[Path]:
    directory.mkdir()
    done = run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", directory])
    if done.returncode != 0:
        pytest.skip("mounting is not allowed here: " + done.stdout.strip())
    try:
        yield directory
    finally:
        run(["umount", "-l", directory])


def sizes_up_to_enough(tmp_path: Path, output_format: str, steps: int) -> list[int]:
    """From one page to more than the whole output, in bytes; the last must do."""
    assert run(graph(tmp_path / "whole", output_format)).returncode == 0
    whole = sum(path.stat().st_size for path in (tmp_path / "whole").iterdir())
    return [4096 + (whole * 3 // 2 + (1 << 19)) * step // (steps * 4096) * 4096 for step in range(steps + 1)]


@pytest.mark.parametrize("output_format", ["vis", "db"])
def test_full_disk(row, tmp_path, output_format):
    sizes = sizes_up_to_enough(tmp_path, output_format, times(60))
    failed = 0
    for kib in (size // 1024 for size in sizes):
        with mounted(tmp_path / f"small{kib}", f"size={kib}k") as small:
            done = run(graph(small / "out", output_format))
            assert done.returncode in (0, 4), done.stdout
            assert done.returncode == 0 or said(done.stdout), done.stdout
            failed += done.returncode == 4
            assert check_outputs(small / "out") == (done.returncode == 0)
    assert 0 < failed < len(sizes)
    row(f"full disk (small tmpfs), {output_format}", len(sizes), "no half file, exit 4",
        f"{failed} refused, the rest whole, 0 half files")


@pytest.mark.parametrize("output_format", ["vis", "db"])
def test_file_size_limit(row, tmp_path, output_format):
    limits = sizes_up_to_enough(tmp_path, output_format, times(50))
    failed = 0
    for number, limit in enumerate(limits):
        out = tmp_path / f"out{number}"
        done = run(graph(out, output_format),
                   preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert done.returncode in (0, 4), done.stdout
        failed += done.returncode == 4
        assert check_outputs(out) == (done.returncode == 0)
    assert 0 < failed < len(limits)
    row(f"file size limit as a quota gives it, {output_format}", len(limits), "no half file, exit 4",
        f"{failed} refused, the rest whole, 0 half files")


def test_no_memory(row, tmp_path):
    count = times(100)
    limits = [(4 << 20) + number * (50 << 20) // count for number in range(count)]
    failed = 0
    for number, limit in enumerate(limits):
        out = tmp_path / f"out{number}"
        done = run(graph(out), preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        started = "error while loading shared libraries" not in done.stdout and done.returncode != -signal.SIGSEGV
        if started and done.returncode not in (0, 127):
            assert done.returncode == 4 and said(done.stdout), (limit, done.returncode, done.stdout)
            failed += 1
        assert check_outputs(out) == (done.returncode == 0)
    row("address space of 4 … 54 MiB (ulimit -v)", len(limits), "clear error, no half file",
        f"{failed} refused with an error, the rest finished or was refused by the loader")


def test_read_only(row, tmp_path):
    with mounted(tmp_path / "fixed", "size=1m,ro") as fixed:
        for output_format in ("vis", "db"):
            done = run(graph(fixed / "out", output_format))
            assert done.returncode in (2, 4) and said(done.stdout), done.stdout
    row("read-only file system", 2, "one clear error", "2 refused")


def test_vanished_mount(row, tmp_path):
    rounds, codes, usual = times(30), [], 0.0
    chance = random.Random(3)
    for number in range(rounds):
        with mounted(tmp_path / f"share{number}", "size=32m") as share:
            for rank in range(60):
                shutil.copytree(SAMPLE / "target/step0/rank0", share / f"target/rank{rank}")
            golden = tmp_path / f"golden{number}"
            golden.mkdir()
            for rank in range(60):
                os.symlink(SAMPLE / "golden/step0/rank0", golden / f"rank{rank}")
            out = tmp_path / f"out{number}"
            command = [CLI, "graph", share / "target", golden, "-o"]
            usual = usual or seconds_of([*command, tmp_path / "whole"])
            job = subprocess.Popen([*command, out], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(chance.random() * usual)
            run(["umount", "-l", share])
            text, _ = job.communicate(timeout=120)
            assert job.returncode in (0, 2, 3, 4), text
            assert job.returncode == 0 or said(text), text
            codes.append(job.returncode)
            check_outputs(out)
    row("mount of the dumps taken away while comparing", rounds, "clear error, no half file",
        f"{codes.count(0)} finished before, {len(codes) - codes.count(0)} refused")


def test_stopped_and_interrupted(row, tmp_path):
    """SIGSTOP, SIGCONT and a flood of window changes: interrupted system calls are repeated."""
    signals, chance = 0, random.Random(4)
    for number in range(times(30)):
        golden = tmp_path / f"many{number}"
        golden.mkdir()
        for rank in range(40):
            os.symlink(SAMPLE / "golden/step0/rank0", golden / f"rank{rank}")
        out = tmp_path / f"out{number}"
        job = subprocess.Popen([CLI, "graph", golden, golden, "-o", out], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        while job.poll() is None:
            for kind in (signal.SIGWINCH, signal.SIGSTOP, signal.SIGCONT):
                with contextlib.suppress(ProcessLookupError):
                    job.send_signal(kind)
                signals += 1
            time.sleep(chance.random() * 0.004)
        text, _ = job.communicate()
        assert job.returncode == 0, text
        assert check_outputs(out) == 40
    row("stopping, continuing and interrupting `msprobe graph`", f"{signals} signals", "the result is the same",
        "all finished")
