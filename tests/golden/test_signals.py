"""Ctrl-C, SIGTERM and a terminal that is closed: the exit code says so, and no half file stays."""
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import program  # noqa: E402

SAMPLE = HERE.parents[1] / "examples/sample"
RANKS = 1500


def signalled(job, number):
    """What the job says after the signal, which it gets when its first unit is done."""
    for line in job.stderr:
        if b"] done" in line:
            break
    job.send_signal(number)
    return job.stderr.read().decode()


def test_the_third_signal_leaves_no_half_file(tmp_path):
    for rank in range(RANKS):
        os.makedirs(tmp_path / "target", exist_ok=True)
        os.symlink(SAMPLE / "target/step0/rank0", tmp_path / "target" / f"rank{rank}")
    for tries in range(5):
        out = tmp_path / f"out{tries}"
        job = subprocess.Popen([program(), "graph", "target", "-o", out], cwd=tmp_path,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for line in job.stderr:
            if b"] done" in line:
                break
        # Equal signals that wait would count once.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            job.send_signal(number)
        job.stderr.read()
        assert job.wait(timeout=60) in (130, 143)
        assert [path.name for path in out.iterdir() if not path.name.endswith(".vis")] == []
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                          (signal.SIGHUP, 129)])
@pytest.mark.parametrize("output_format", ["vis", "db"])
def test_cancel(tmp_path, number, code, output_format):
    for side in ("target", "golden"):
        (tmp_path / side).mkdir()
        for rank in range(RANKS):
            os.symlink(SAMPLE / side / "step0/rank0", tmp_path / side / f"rank{rank}")
    job = subprocess.Popen(
        [program(), "graph", "target", "golden", "-o", "out", "--format", output_format],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # the tests may run under nohup
    rest = signalled(job, number)
    assert job.wait(timeout=60) == code, rest
    assert "cancelled" in rest
    written = list((tmp_path / "out").glob("*"))
    assert (tmp_path / "out").exists() == bool(written)  # no empty directory stays
    assert len(written) < RANKS
    for path in written:
        assert path.name.endswith(".vis"), f"{path.name} stayed"
        json.loads(path.read_text())
    assert output_format == "vis" or not written
    shutil.rmtree(tmp_path)


def test_under_nohup_it_goes_on(tmp_path):
    for rank in range(RANKS // 10):
        os.makedirs(tmp_path / "target", exist_ok=True)
        os.symlink(SAMPLE / "target/step0/rank0", tmp_path / "target" / f"rank{rank}")
    job = subprocess.Popen(["nohup", program(), "graph", "target", "-o", "out"], cwd=tmp_path,
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    rest = signalled(job, signal.SIGHUP)
    assert job.wait(timeout=60) == 0, rest
    assert len(list((tmp_path / "out").iterdir())) == RANKS // 10
    shutil.rmtree(tmp_path)


def test_cancelled_tables_leave_no_half_file(tmp_path):
    for side in ("target", "golden"):
        (tmp_path / side).mkdir()
        for rank in range(RANKS):
            os.symlink(SAMPLE / side / "step0/rank0", tmp_path / side / f"rank{rank}")
    job = subprocess.Popen(
        [program(), "compare", "target", "golden", "-o", "out", "--format", "csv,xlsx,json"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    rest = signalled(job, signal.SIGINT)
    assert job.wait(timeout=60) == 130, rest
    written = list((tmp_path / "out").iterdir())
    assert 0 < len(written) < 3 * RANKS
    assert {path.suffix for path in written} <= {".csv", ".xlsx", ".jsonl"}
    for path in written:
        if path.suffix == ".csv":
            assert path.read_text().endswith("\n")
