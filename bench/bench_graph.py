#!/usr/bin/env python3
"""Building and comparing graphs: ours against the peer, and against what the machine can do.

usage: bench_graph.py [--only SUBSTRING]   (rows whose name contains it)
Dumps come from the generators in $MSPROBE_SHARED (default ../shared), into $MSPROBE_BENCH_DIR.
"""

import argparse
import os
import pathlib
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
PYTHON = str(ROOT / ".venv" / "bin" / "python")
HEADER = ["case", "peer 1.2.1", "peer 26.2", "ours", "memory", "× faster", "to reach", "limit"]


def generate(name: str, script: str, *arguments: str) -> pathlib.Path:
    """Makes a dump pair once and keeps it."""
    directory = DATA / name
    if not (directory / "done").exists():
        print(f"generating {name}", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        subprocess.run([PYTHON, str(SHARED / "tools" / script), str(directory), *arguments], check=True)
        (directory / "done").touch()
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


class Bench:
    def __init__(self, only: str):
        self.only = only
        self.rows: list[list[str]] = []
        self.raw: list[str] = []
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="msprobe-bench-"))
        self.serial = 0

    def output(self) -> str:
        self.serial += 1
        return str(self.scratch / f"out{self.serial}")

    def ours(self, target: pathlib.Path, golden: pathlib.Path | None, form: str, *more: str) -> list[str]:
        return [CLI, "graph", str(target), *([str(golden)] if golden else []), "-o", self.output(),
                "--format", form, *more]

    def versus(self, name: str, target: pathlib.Path, golden: pathlib.Path | None, form: str, goal: str,
               limit: str, peer_runs: int, our_runs: int,
               versions: tuple[str, ...] = ("1.2.1", "26.2.0")) -> None:
        """One row: the peers' own command lines against ours on the same dumps."""
        if self.only not in name:
            return
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
        faster = " / ".join(f"{wall[version] / wall['ours']:.0f}" for version in versions)
        cells = [f"{report.seconds(wall[version])}, {report.megabytes(memory[version])}" if version in versions else "–"
                 for version in ("1.2.1", "26.2.0")]
        self.rows.append([
            name, *cells, report.seconds(wall["ours"]), report.megabytes(memory["ours"]), faster, goal, limit])
        self.note(name, results)

    def note(self, name: str, results: dict[str, list[measure.Run]]) -> None:
        for key, runs in results.items():
            walls = ", ".join(f"{item.wall:.3f}" for item in runs)
            cpus = ", ".join(f"{item.cpu:.3f}" for item in runs)
            self.raw.append(f"* {name}, {key}: wall {walls} s; cpu {cpus} s")

    def alone(self, name: str, command_of, goal: str, describe, runs: int = 3) -> None:
        """One row without a peer; `describe(runs)` fills the column of the limit."""
        if self.only not in name:
            return
        done = [measure.run(command_of()) for _ in range(runs)]
        self.rows.append([name, "–", "–", report.seconds(measure.median(done, "wall")),
                          report.megabytes(measure.median(done, "rss_anon")), "–", goal, describe(done)])
        self.note(name, {"ours": done})


def bytes_per_second(directory: pathlib.Path):
    """Describes how a run compares to reading the json at memory speed."""
    return f"{size_of(directory / 'npu', directory / 'bench') / 2**20:.0f} MB of json"


def measure_real_data(bench: Bench, rate: float) -> None:
    for dtype in ("float32", "bfloat16"):
        pair = generate(f"tensor-{dtype}", "gen_tensor_pair.py", "24", "16", dtype)
        total = size_of(pair / "npu" / "dump_tensor_data", pair / "bench" / "dump_tensor_data")
        name = f"real data {dtype}, {total / 2**30:.1f} GiB"
        if bench.only not in name:
            continue
        bench.versus(name, pair / "npu", pair / "bench", "vis", "≥ 25 ×, ≥ 60 % of one thread's read rate", "", 1, 3)
        one = measure.run(bench.ours(pair / "npu", pair / "bench", "vis", "-j", "1"))
        both = bench.rows[-1]
        ours = float(total) / (float(both[3].split()[0]) / (1000 if both[3].endswith("ms") else 1))
        both[7] = (f"{ours / 1e9:.1f} GB/s on all cores, {total / one.wall / 1e9:.1f} GB/s on one = "
                   f"{total / one.wall / rate * 100:.0f} % of {rate / 1e9:.1f} GB/s read rate")


def measure_ranks(bench: Bench) -> None:
    single = generate("20k", "gen_dump_pair.py", "20000")
    tree = DATA / "64-ranks"
    for side in ("npu", "bench"):
        for rank in range(64):
            directory = tree / side / f"rank{rank}"
            if not directory.exists():
                directory.mkdir(parents=True)
                for file in (single / side).iterdir():
                    os.link(file, directory / file.name)
    cores = len(os.sched_getaffinity(0))
    bench.alone("64 ranks × 20,000 nodes", lambda: bench.ours(tree / "npu", tree / "bench", "db"),
                "wall ≤ 1.3 × work / cores",
                lambda runs: f"wall = {measure.median(runs, 'wall') / (measure.median(runs, 'cpu') / cores):.2f} × work / cores")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only rows whose name contains this")
    only = parser.parse_args().only
    if not (SHARED / "tools").is_dir():
        print(f"the generators of the large dumps are missing; set MSPROBE_SHARED to the folder that holds tools/: {SHARED}",
              file=sys.stderr)
        return 2
    bench = Bench(only)
    rate = read_rate()
    case = SHARED / "cases" / "graph" / "cmp_stat"
    bench.versus("start to end, 30 nodes", case / "npu", case / "bench", "vis", "≥ 100 ×, ≤ 30 MB", "", 3, 15)
    large = generate("100k", "gen_dump_pair.py", "100000")
    limit = bytes_per_second(large)
    bench.versus("build 100,000 nodes", large / "npu", None, "vis", "≥ 50 ×, ≤ 300 MB", limit, 1, 5)
    bench.versus("compare 2 × 100,000, .vis", large / "npu", large / "bench", "vis", "≥ 60 ×, ≤ 600 MB", limit, 1, 5,
                 versions=("1.2.1",))  # it writes .vis, the newer one .vis.db
    bench.versus("compare 2 × 100,000, .vis.db", large / "npu", large / "bench", "db", "≥ 60 ×, ≤ 600 MB", limit, 1, 5,
                 versions=("26.2.0",))
    measure_real_data(bench, rate)
    measure_ranks(bench)
    million = generate("1000k", "gen_dump_pair.py", "1000000") if only in "compare 2 × 1,000,000, .vis.db" else None
    bench.alone("compare 2 × 1,000,000, .vis.db", lambda: bench.ours(million / "npu", million / "bench", "db"),
                "linear, ≤ 4 GB", lambda runs: bytes_per_second(million), runs=1)
    shutil.rmtree(bench.scratch, ignore_errors=True)
    body = report.table(HEADER, bench.rows) + "\n\nEach run:\n\n" + "\n".join(bench.raw)
    if only:
        print(body)
    else:
        report.write_section("graph", "Building and comparing graphs", body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
