#!/usr/bin/env python3
"""Building and comparing graphs: ours against the peer, and against what the machine can do.

usage: bench_graph.py [--only SUBSTRING] [--no-peers]   (rows whose name contains it; ours alone)
Dumps come from the generators in $MSPROBE_SHARED (default ../shared), or from large_dump.py where there are
none, into $MSPROBE_BENCH_DIR.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import measure
import peers
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))
SHARED = pathlib.Path(os.environ.get("MSPROBE_SHARED", ROOT.parent / "shared")).resolve()
DATA = pathlib.Path(os.environ.get("MSPROBE_BENCH_DIR", "/tmp/msprobe-bench"))
SAMPLE = ROOT / "examples" / "sample"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
HEADER = ["case", "peer 1.2.1", "peer 26.2", "ours", "memory", "× faster", "to reach", "limit"]


def generate(name: str, script: str, *arguments: str) -> pathlib.Path:
    """Makes a dump pair once and keeps it."""
    command = [str(SHARED / "tools" / script)]
    if not pathlib.Path(command[0]).exists():
        name, command = f"layers-{name}", [str(ROOT / "bench" / "large_dump.py")]
        arguments = ("layers", *arguments)
    directory = DATA / name
    if not (directory / "done").exists():
        print(f"generating {name}", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        subprocess.run([PYTHON, *command, str(directory), *arguments], check=True)
        (directory / "done").touch()
        forget(directory)
    return directory


def size_of(*directories: pathlib.Path) -> int:
    return sum(file.stat().st_size for directory in directories for file in directory.rglob("*") if file.is_file())


def read_rate() -> float:
    """Bytes a second that one thread reads from memory, best of several passes over 1 GiB."""
    import numpy

    data = numpy.ones(2**27, dtype=numpy.float64)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        data.sum()
        best = min(best, time.perf_counter() - start)
    return data.nbytes / best


def files_rate(*directories: pathlib.Path) -> float:
    """Bytes a second that one thread reads these files with, from the page cache by the MiB, doing nothing else."""
    buffer = bytearray(1 << 20)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for directory in directories:
            for path in directory.iterdir():
                with open(path, "rb", buffering=0) as file:
                    while file.readinto(buffer):
                        pass
        best = min(best, time.perf_counter() - start)
    return size_of(*directories) / best


def forget(*directories: pathlib.Path) -> None:
    """Drops the files from the page cache: the next reader decides in how large pages they come back."""
    for directory in directories:
        for path in directory.rglob("*"):
            if path.is_file():
                with open(path, "rb") as file:
                    os.fdatasync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Bench:
    def __init__(self, only: str, with_peers: bool):
        self.only = only
        self.with_peers = with_peers
        self.rate = read_rate()
        self.rows: list[list[str]] = []
        self.raw: list[str] = []
        self.profiles: list[str] = []
        self.wall: dict[str, float] = {}
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="msprobe-bench-", dir=DATA))
        self.serial = 0

    def output(self) -> str:
        self.clean()
        self.serial += 1
        return str(self.scratch / f"out{self.serial}")

    def clean(self) -> None:
        """A file of gigabytes that is still being written to the disk would slow down the next run."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        os.sync()

    def ours(self, target: pathlib.Path, golden: pathlib.Path | None, form: str, *more: str) -> list[str]:
        return [CLI, "graph", str(target), *([str(golden)] if golden else []), "-o", self.output(),
                "--format", form, *more]

    def limit(self, name: str, read: int, written: int) -> str:
        """How far a row is from moving its bytes at the speed of memory."""
        least = (read + written) / self.rate
        return (f"{read / 2**20:.0f} MB read, {written / 2**20:.0f} MB written: {report.seconds(least)} at "
                f"{self.rate / 1e9:.1f} GB/s, ours is {self.wall[name] / least:.0f} × that")

    def versus(self, name: str, target: pathlib.Path, golden: pathlib.Path | None, form: str, goal: str,
               peer_runs: int, our_runs: int, versions: tuple[str, ...] = ("1.2.1", "26.2.0")) -> None:
        """One row: the peers' own command lines against ours on the same dumps."""
        if self.only not in name:
            return
        print(f"measuring {name}", file=sys.stderr)
        versions = peers.available(*versions) if self.with_peers else ()
        results: dict[str, list[measure.Run]] = {**{version: [] for version in versions}, "ours": []}
        for turn in range(max(peer_runs, our_runs)):
            for version in versions:
                if turn < peer_runs:
                    command = peers.graph_command(version, str(target), golden and str(golden), self.output(),
                                                  str(self.scratch))
                    results[version].append(measure.run(command))
            if turn < our_runs:
                results["ours"].append(measure.run(self.ours(target, golden, form)))
        wall = {key: measure.median(runs, "wall") for key, runs in results.items()}
        memory = {key: measure.median(runs, "rss_anon") for key, runs in results.items()}
        faster = " / ".join(f"{wall[version] / wall['ours']:.0f}" for version in versions) or "–"
        cells = [f"{report.seconds(wall[version])}, {report.megabytes(memory[version])}" if version in versions else "–"
                 for version in ("1.2.1", "26.2.0")]
        self.wall[name] = wall["ours"]
        written = size_of(self.scratch)
        read = sum(size_of(side) for side in (target, golden) if side)
        self.rows.append([name, *cells, report.seconds(wall["ours"]), report.megabytes(memory["ours"]), faster, goal,
                          self.limit(name, read, written)])
        self.note(name, results)
        self.profile(name, self.ours(target, golden, form))

    def note(self, name: str, results: dict[str, list[measure.Run]]) -> None:
        for key, runs in results.items():
            walls = ", ".join(f"{item.wall:.3f}" for item in runs)
            cpus = ", ".join(f"{item.cpu:.3f}" for item in runs)
            self.raw.append(f"* {name}, {key}: wall {walls} s; cpu {cpus} s")

    def profile(self, name: str, command: list[str]) -> None:
        """One more run that says how long its stages took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = measure.run(command, env={"MSPROBE_TIMING": "1"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls: dict[str, float] = {}
        for stage, wall in re.findall(r"timing ([\w ]+): ([\d.]+) s", run.output):
            walls[stage] = walls.get(stage, 0) + float(wall)
        total = max(run.wall, sum(walls.values()))  # stages of several ranks overlap
        walls["start, plan, end"] = total - sum(walls.values())
        shares = ", ".join(f"{stage} {wall / total * 100:.0f} %" for stage, wall in walls.items())
        user = after.ru_utime - before.ru_utime
        system = after.ru_stime - before.ru_stime
        self.profiles.append(f"* {name}: {shares}; {user / (user + system + 1e-9) * 100:.0f} % of the CPU time is "
                             f"ours, {system / (user + system + 1e-9) * 100:.0f} % the kernel's (files, memory)")

    def alone(self, name: str, command_of, goal: str, describe, runs: int) -> None:
        """One row without a peer; `describe(runs)` fills the column of the limit."""
        if self.only not in name:
            return
        print(f"measuring {name}", file=sys.stderr)
        done = [measure.run(command_of()) for _ in range(runs)]
        self.wall[name] = measure.median(done, "wall")
        self.rows.append([name, "–", "–", report.seconds(self.wall[name]),
                          report.megabytes(measure.median(done, "rss_anon")), "–", goal, describe(done)])
        self.note(name, {"ours": done})
        self.profile(name, command_of())


def measure_real_data(bench: Bench) -> None:
    if not (SHARED / "tools" / "gen_tensor_pair.py").exists():
        report.leave_out("real data: its generator is missing (MSPROBE_SHARED)")
        return
    for dtype in ("float32", "bfloat16"):
        pair = generate(f"tensor-{dtype}", "gen_tensor_pair.py", "24", "16", dtype)
        sides = (pair / "npu" / "dump_tensor_data", pair / "bench" / "dump_tensor_data")
        total = size_of(*sides)
        name = f"real data {dtype}, {total / 2**30:.1f} GiB"
        if bench.only not in name:
            continue
        forget(*sides)
        measure.run(bench.ours(pair / "npu", pair / "bench", "vis"))
        bench.versus(name, pair / "npu", pair / "bench", "vis", "≥ 25 ×, ≥ 60 % of one thread's read rate", 1, 5)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        alone = [measure.run(bench.ours(pair / "npu", pair / "bench", "vis", "-j", "1")) for _ in range(5)]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        system = (after.ru_stime - before.ru_stime) / len(alone)
        user = (after.ru_utime - before.ru_utime) / len(alone)
        bench.note(name + ", one thread", {"ours": alone})
        one = total / measure.median(alone, "wall")
        files = files_rate(*sides)
        bench.rows[-1][7] = (
            f"{total / bench.wall[name] / 1e9:.1f} GB/s on all cores, {one / 1e9:.1f} GB/s on one = "
            f"{one / bench.rate * 100:.0f} % of the {bench.rate / 1e9:.1f} GB/s that one thread reads from memory, "
            f"{one / files * 100:.0f} % of the {files / 1e9:.1f} GB/s at which it reads these files; of its time the "
            f"kernel takes {system * 1000:.0f} ms (mapping the files), the rest {user * 1000:.0f} ms = "
            f"{total / user / 1e9:.1f} GB/s, {total / user / bench.rate * 100:.0f} % of the memory's")


def measure_ranks(bench: Bench) -> None:
    name = "64 ranks × 20,000 nodes"
    if bench.only not in name:
        return
    single = generate("20k", "gen_dump_pair.py", "20000")

    def tree(ranks: int) -> pathlib.Path:
        directory = DATA / f"{ranks}-ranks"
        for side in ("npu", "bench"):
            for rank in range(ranks):
                place = directory / side / f"rank{rank}"
                if not place.exists():
                    place.mkdir(parents=True)
                    for file in (single / side).iterdir():
                        os.link(file, place / file.name)
        return directory

    def compare(ranks: int) -> list[str]:
        return bench.ours(tree(ranks) / "npu", tree(ranks) / "bench", "db")

    cores = len(os.sched_getaffinity(0))
    few = measure.run(compare(8))

    def describe(runs: list[measure.Run]) -> str:
        ratio = measure.median(runs, "wall") / (measure.median(runs, "cpu") / cores)
        return (f"wall = {ratio:.2f} × work / cores; 8 ranks take {report.megabytes(few.rss_anon)}, "
                f"{report.seconds(few.wall)}")

    bench.alone(name, lambda: compare(64), "wall ≤ 1.3 × work / cores, memory bounded by the ranks in flight",
                describe, 1)


def measure_million(bench: Bench) -> None:
    name = "compare 2 × 1,000,000, .vis.db"
    if bench.only not in name:
        return
    million = generate("1000k", "gen_dump_pair.py", "1000000")
    size = size_of(million / "npu", million / "bench")

    def describe(_: list[measure.Run]) -> str:
        tenth = bench.wall.get("compare 2 × 100,000, .vis.db")
        factor = f"{bench.wall[name] / tenth:.1f} × the time of 100,000; " if tenth else ""
        return factor + bench.limit(name, size, size_of(bench.scratch))

    bench.alone(name, lambda: bench.ours(million / "npu", million / "bench", "db"), "linear, ≤ 4 GB", describe, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only rows whose name contains this")
    parser.add_argument("--no-peers", action="store_true", help="ours alone: some minutes less")
    arguments = parser.parse_args()
    DATA.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.only, not arguments.no_peers)
    case = SHARED / "cases" / "graph" / "cmp_stat"
    small = (case / "npu", case / "bench") if case.is_dir() else (SAMPLE / "target", SAMPLE / "golden")
    bench.versus("start to end, 30 nodes", *small, "vis", "≥ 100 ×, ≤ 30 MB", 3, 15)
    large = generate("100k", "gen_dump_pair.py", "100000")
    bench.versus("build 100,000 nodes", large / "npu", None, "vis", "≥ 50 ×, ≤ 300 MB", 1, 5)
    bench.versus("compare 2 × 100,000, .vis", large / "npu", large / "bench", "vis", "≥ 60 ×, ≤ 600 MB", 1, 5,
                 versions=("1.2.1",))  # it writes .vis, the newer one .vis.db
    bench.versus("compare 2 × 100,000, .vis.db", large / "npu", large / "bench", "db", "≥ 60 ×, ≤ 600 MB", 1, 5,
                 versions=("26.2.0",))
    measure_real_data(bench)
    measure_ranks(bench)
    measure_million(bench)
    shutil.rmtree(bench.scratch, ignore_errors=True)
    body = "\n\n".join([report.table(HEADER, bench.rows), "Where the time goes, by stages (wall):",
                        "\n".join(bench.profiles), "Each run:", "\n".join(bench.raw)])
    if arguments.only or arguments.no_peers:
        print(body)
    else:
        report.write_section("graph", "Building and comparing graphs", body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
