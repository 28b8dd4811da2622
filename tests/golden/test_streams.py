"""Standard streams that are closed, full or slow: nothing is lost unsaid, and no file gets what is printed."""
import fcntl
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import termios
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import program  # noqa: E402

SAMPLE = HERE.parents[1] / "examples/sample"
QUERY = ["query", SAMPLE / "target", "SELECT * FROM tensors", "--json", "--limit", "0"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("output_format", ["vis", "db"])
def test_closed_streams(tmp_path, closed, output_format):
    for side in ("target", "golden"):
        (tmp_path / side).mkdir()
        for rank in range(6):
            os.symlink(SAMPLE / side / "step0/rank0", tmp_path / side / f"rank{rank}")
    command = f"'{program()}' graph target golden -o out --format {output_format} -j 4 {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    files = list((tmp_path / "out").iterdir())
    assert len(files) == (6 if output_format == "vis" else 1)
    for path in files:
        if output_format == "vis":
            json.loads(path.read_text())
        else:
            assert path.read_bytes().startswith(b"SQLite format 3\0")
            subprocess.run([program(), "query", path, "SELECT count(*) FROM nodes"], check=True,
                           stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["inspect", SAMPLE / "target"], QUERY],
                         ids=["version", "help", "inspect", "query"])
def test_full_output(words):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program(), *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert done.stderr.decode().splitlines() == [
        "[ERROR] cannot write to standard output (No space left on device)",
        "  see that there is room where the output goes"]


def test_a_reader_that_has_seen_enough_is_no_error():
    job = subprocess.Popen([program(), *QUERY], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    job.stdout.read(10)
    job.stdout.close()
    assert job.stderr.read() == b""
    assert job.wait() == 0


def test_output_that_does_not_wait_for_its_reader():
    whole = subprocess.run([program(), *QUERY], stdout=subprocess.PIPE, check=True).stdout
    reader, writer = os.pipe()
    assert len(whole) > fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    job = subprocess.Popen([program(), *QUERY], stdout=writer)
    os.close(writer)
    waiting = bytearray(4)
    while job.poll() is None and int.from_bytes(waiting, sys.byteorder) < len(whole) // 2:
        fcntl.ioctl(reader, termios.FIONREAD, waiting)
    with os.fdopen(reader, "rb") as stream:
        assert stream.read() == whole
    assert job.wait() == 0


@pytest.mark.parametrize("terminal, moves", [("xterm", True), ("dumb", False)])
def test_progress_bar(tmp_path, terminal, moves):
    main, side = pty.openpty()
    job = subprocess.Popen([program(), "graph", SAMPLE / "target", "-o", tmp_path / "out"], stderr=side,
                           stdout=subprocess.DEVNULL, env={**os.environ, "TERM": terminal})
    os.close(side)
    assert job.wait() == 0
    shown = os.read(main, 1 << 16)
    os.close(main)
    assert b"] done" in shown
    assert (b"\r\x1b[K" in shown) == moves


def test_the_times_of_the_stages_are_said_where_they_are_asked_for(tmp_path):
    command = [program(), "graph", SAMPLE / "target", SAMPLE / "golden", "-o", tmp_path / "out"]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "timing" not in quiet.stdout + quiet.stderr
    env = os.environ | {"MSPROBE_TIMING": "1"}
    timed = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert "timing" not in timed.stdout
    stages = re.findall(r"timing (.+): (\d+\.\d{3}) s, cpu (\d+\.\d{3}) s\n", timed.stderr)
    assert {"build", "match", "write"} <= {stage for stage, _, _ in stages}


def test_views_of_a_foreign_file_are_not_run(tmp_path):
    path = tmp_path / "foreign.vis.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE VIEW tb_nodes AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
                         " SELECT i AS step FROM n")
    done = subprocess.run([program(), "query", path, "SELECT count(*) FROM tb_nodes"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2
    assert "the file holds views or virtual tables" in done.stderr
