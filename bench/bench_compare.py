#!/usr/bin/env python3
"""Tables of large comparisons: 1,000,000 records to csv, 100,000 to xlsx, html and json.

usage: bench_compare.py [RECORDS]
Dumps are written into $MSPROBE_BENCH_DIR and removed at the end.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import measure
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))
DATA = pathlib.Path(os.environ.get("MSPROBE_BENCH_DIR", "/tmp/msprobe-bench"))
REPEATS = 3


def dumps(directory: pathlib.Path, records: int) -> pathlib.Path:
    made = directory / str(records)
    subprocess.run([sys.executable, str(ROOT / "bench" / "large_dump.py"), str(made), "layers", str(records)],
                   check=True, stdout=subprocess.DEVNULL)
    return made


def row(directory: pathlib.Path, pair: pathlib.Path, name: str, formats: str, to_reach: str) -> list[str]:
    runs = []
    for _ in range(REPEATS):
        out = directory / "out"
        shutil.rmtree(out, ignore_errors=True)
        runs.append(measure.run([CLI, "compare", str(pair / "npu"), str(pair / "bench"), "-o", str(out),
                                 "--format", formats]))
    written = sum(file.stat().st_size for file in out.iterdir())
    read = sum(file.stat().st_size for file in pair.rglob("*.json"))
    return [name, report.seconds(measure.median(runs, "wall")), report.seconds(measure.median(runs, "cpu")),
            report.megabytes(max(run.rss_anon for run in runs)), report.megabytes(read), report.megabytes(written),
            to_reach]


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    DATA.mkdir(parents=True, exist_ok=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="compare_", dir=DATA))
    try:
        pair = dumps(directory, records)
        rows = [row(directory, pair, f"{records:,} records to csv", "csv", "≤ 10 s, ≤ 1 GB")]
        shutil.rmtree(pair)
        pair = dumps(directory, records // 10)
        for formats in ("csv", "xlsx", "json", "html"):
            rows.append(row(directory, pair, f"{records // 10:,} records to {formats}", formats, ""))
        report.write_section("compare", "Tables of large comparisons",
                             report.table(["case", "time", "CPU", "memory", "json read", "written", "to reach"], rows))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
