"""Shared by the long tests: how long they run, and the table they fill."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build/bin/msprobe"))
BUILD = Path(os.environ.get("MSPROBE_BUILD", ROOT / "build"))
SAMPLE = ROOT / "examples/sample"
SHARE = float(os.environ.get("MSPROBE_SOAK", "1"))
TABLE = ROOT / "docs/robustness.md"


def times(number: int) -> int:
    return max(1, round(number * SHARE))


@pytest.fixture(scope="session")
def row() -> Callable[[str, object, str, str], None]:
    """row(what, times, promise, found): a line of docs/robustness.md, instead of its older one."""

    def write(what: str, number: object, promise: str, found: str) -> None:
        lines = TABLE.read_text().splitlines()
        older = next((place for place, line in enumerate(lines) if line.startswith(f"| {what} |")), len(lines))
        lines[older:older + 1] = [f"| {what} | {number} | {promise} | {found} |"]
        TABLE.write_text("\n".join(lines) + "\n")

    return write


def check_outputs(directory: Path) -> int:
    """All files under final names are whole; gives their number."""
    found = 0
    for path in directory.iterdir() if directory.exists() else ():
        if path.name.endswith(".vis"):
            json.loads(path.read_text())
        elif path.name.endswith(".vis.db"):
            import sqlite3

            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        else:
            # What a SIGKILL may leave bears a name that no reader takes.
            assert re.search(r"\.tmp|-journal$|^\.", path.name), path
            continue
        found += 1
    return found


def run(arguments: list[object], **options: object) -> subprocess.CompletedProcess[str]:
    command = [str(part) for part in arguments]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=600, **options)  # type: ignore[call-overload]


def seconds_of(arguments: list[object], **options: object) -> float:
    """How long a command takes here and now: moments inside it are drawn from that."""
    begin = time.monotonic()
    assert run(arguments, **options).returncode == 0
    return time.monotonic() - begin
