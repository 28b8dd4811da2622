#!/usr/bin/env python3
"""The viewer in a real browser: ours, and tb-graph-ascend inside TensorBoard on the same files.

usage: bench_view.py [--only SUBSTRING] [--ours]   (files whose name contains it; without the other viewer)
Dumps come from the generator in $MSPROBE_SHARED (default ../shared), or from large_dump.py where
there is none, into $MSPROBE_BENCH_DIR. They are compared once for each build of msprobe.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import measure
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = pathlib.Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))
SHARED = pathlib.Path(os.environ.get("MSPROBE_SHARED", ROOT.parent / "shared")).resolve()
DATA = pathlib.Path(os.environ.get("MSPROBE_BENCH_DIR", "/tmp/msprobe-bench"))
PYTHON = os.environ.get("MSPROBE_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
DRIVERS = pathlib.Path(__file__).resolve().parent / "viewer"
MEGABYTE = 2**20


@dataclass
class Case:
    """A file to look at."""

    name: str
    shape: str  # of large_dump.py
    count: int
    form: str
    others: bool  # whether the other viewer looks at it too
    goals: dict[str, str]


FLUENT = {"expand": "≤ 50 ms", "search": "≤ 50 ms", "filter": "≤ 50 ms", "wheel": "60 frames a second"}
CASES = [
    Case("821 MB .vis", "layers", 191_000, "vis", True,
         {"first": "≤ 1.5 s", "again": "≤ 0.5 s", "memory": "≤ 500 MB", **FLUENT}),
    Case("100,000 nodes, .vis.db", "layers", 100_000, "db", True,
         {"first": "≤ 0.5 s", "again": "≤ 0.5 s", "memory": "≤ 100 MB", **FLUENT}),
    Case("1,000,000 nodes, .vis.db", "layers", 1_000_000, "db", False,
         {"first": "≤ 2 s", "again": "≤ 2 s", "memory": "", "heap": "≤ 300 MB", **FLUENT}),
    Case("layer with 10,000 children, .vis.db", "wide", 10_000, "db", False,
         {"first": "≤ 0.5 s", "again": "≤ 0.5 s", "memory": "≤ 100 MB", **FLUENT}),
    Case("depth 400, .vis.db", "deep", 400, "db", False,
         {"first": "≤ 0.5 s", "again": "≤ 0.5 s", "memory": "≤ 100 MB", **FLUENT}),
]  # fmt: skip


def node() -> str:
    own = ROOT / ".cache" / "node" / "tools" / "node"
    return str(own) if own.exists() else shutil.which("node") or "node"


def once(directory: pathlib.Path, stamp: str, make: Callable[[], None]) -> pathlib.Path:
    """`directory`, filled by `make` unless that was done before under the same stamp."""
    done = directory / "done"
    if not done.exists() or done.read_text() != stamp:
        print(f"making {directory.name}", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        make()
        done.write_text(stamp)
    return directory


def dump_pair(case: Case) -> pathlib.Path:
    shared = SHARED / "tools" / "gen_dump_pair.py"
    own = case.shape != "layers" or not shared.exists()
    name = f"{case.shape}-{case.count}" if own else f"{case.count // 1000}k"
    directory = DATA / name
    script = [str(DRIVERS.parent / "large_dump.py"), str(directory), case.shape, str(case.count)]
    if not own:
        script = [str(shared), str(directory), str(case.count)]
    return once(directory, "", lambda: subprocess.run([PYTHON, *script], check=True, stdout=sys.stderr) and None)


def graph_file(case: Case) -> pathlib.Path:
    """The compared file of a case, in a folder of its own."""
    folder = DATA / "view" / f"{case.shape}-{case.count}-{case.form}"

    def make() -> None:
        pair = dump_pair(case)
        command = [str(CLI), "graph", str(pair / "npu"), str(pair / "bench"), "-o", str(folder / "run"),
                   "--format", case.form]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    once(folder, str(CLI.stat().st_mtime_ns), make)
    return next(path for path in (folder / "run").iterdir() if path.suffix in (".vis", ".db"))


class Server:
    """A server and the peak of its memory."""

    def __init__(self, process: subprocess.Popen[str], address: str):
        self.process, self.address, self.peak = process, address, 0
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while self.process.poll() is None:
            self.peak = max(self.peak, measure.rss_anon(self.process.pid))
            time.sleep(0.02)


@contextlib.contextmanager
def running(command: list[str], address: str | None) -> Iterator[Server]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if address is None:
            address = process.stdout.readline().strip() + "/"
            address = address.replace("//", "/").replace(":/", "://", 1)
        yield Server(process, address)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # TensorBoard ends when its plugin has read the file
            process.kill()
            process.wait()


def drive(script: str, *arguments: str, timeout: float) -> dict:
    command = [node(), str(DRIVERS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{script} {arguments}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    report.keep(" ".join([script, *arguments[1:]]), found)
    return found


def our_viewer(file: pathlib.Path) -> dict:
    with running([str(CLI), "view", str(file.parent), "--port", "0"], None) as server:
        found = drive("ours.mjs", server.address, file.name, timeout=280)
        return {**found, "memory": server.peak}


def other_viewer(file: pathlib.Path) -> dict:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "tensorboard.main", "--logdir", str(file.parent.parent), "--port", str(port),
               "--host", "127.0.0.1"]
    with running(command, f"http://127.0.0.1:{port}/") as server:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.2)
        idle = server.peak
        # With hundreds of megabytes its page stands still for minutes.
        found = drive("plugin.mjs", server.address, file.parent.name, timeout=1200)
        return {**found, "memory": server.peak - idle}


def percentile(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


def cell(kind: str, found: dict | None) -> str:
    if found is None:
        return "–"
    value = found.get(kind)
    if kind in ("memory", "heap"):
        return report.megabytes(value)
    if kind == "wheel":
        return f"{value['took']:.0f} ms, {value['rate']:.0f} frames a second, longest {value['longest']:.0f} ms"
    if kind == "names" and kind in found and value is None:
        return "> 40 s"
    if not value:
        return "–"
    if kind in ("first", "names"):
        return report.seconds(value / 1000)
    if None in value:
        return "> 10 s"
    seconds = statistics.median(value) if kind == "again" else percentile(value)
    return report.seconds(seconds / 1000)


LABELS = {
    "first": "open → root drawn, first time",
    "again": "the same again",
    "memory": "server, peak",
    "expand": "expand, 95th percentile",
    "names": "search: loading all names before the first",
    "search": "search, 95th percentile",
    "filter": "filter, 95th percentile",
    "next": "next suspicious node, 95th percentile",
    "wheel": "20 wheel ticks",
    "heap": "browser heap, peak",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only files whose name contains this")
    parser.add_argument("--ours", action="store_true", help="leave the other viewer out")
    options = parser.parse_args()
    rows: list[list[str]] = []
    failures: list[str] = []
    for case in CASES:
        if options.only not in case.name:
            continue
        file = graph_file(case)
        print(f"{case.name}: {file.stat().st_size / MEGABYTE:.0f} MB", file=sys.stderr)
        other = None
        if case.others and not options.ours:
            try:
                other = other_viewer(file)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failures.append(f"tb-graph-ascend did not show {case.name}: {str(error).splitlines()[0][:200]}")
        ours = our_viewer(file)
        for kind, label in LABELS.items():
            rows.append([case.name, label, cell(kind, other), cell(kind, ours), case.goals.get(kind, "")])
    body = report.table(["file", "", "tb-graph-ascend 8.3.2", "ours", "to reach"], rows)
    note = ("Real chromium, one page, 1440 × 900; times run until the frame in which the result stands in the page, "
            "so that they hold up to one frame (17 ms) of waiting; half a second between two expansions, as a person "
            "takes. Files are in the page cache. The memory of TensorBoard is without what it takes before a file "
            "is opened.\n\n")
    note += "".join(f"{failure}.\n\n" for failure in failures)
    if options.only or options.ours:
        print(note + body)
    else:
        report.write_section("view", "The viewer", note + body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
