#!/usr/bin/python3
"""Runs fuzzers and counts what they did, over all runs: fuzz/totals.tsv, shown in docs/robustness.md.

fuzz_run.py --seconds 8 NAME...             a short run, nothing is recorded
fuzz_run.py --record --seconds 1800 NAME... CPU seconds for each; adds them to the totals
fuzz_run.py --up-to 1800 NAME...            CPU seconds that each shall have had in all, in turns
fuzz_run.py --keep NAME...                  what the runs found goes into fuzz/grown, as little as reaches the same code
fuzz_run.py --table                         only writes the table again

Without names all fuzzers run, those first that have had the least CPU time, as many at once as --jobs says. A crash
leaves its input in build/fuzz: when it is mended it goes into fuzz/corpus/NAME under a name that begins with
`crash`, which is how crashes are counted as fixed.
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOTALS = ROOT / "fuzz/totals.tsv"
TABLE = ROOT / "docs/robustness.md"
HEAD = "| input | fuzzer | CPU minutes | cases | crashes found | fixed |\n|---|---|---|---|---|---|\n"
GROWN = ROOT / "fuzz/grown"
CHUNK_SECONDS = 300
# A long run may share its processors: what seems to hang may only wait for one.
HANG_SECONDS, LONG_HANG_SECONDS = 20, 200
KEPT_BYTES = 400_000
LOCK = ROOT / "build/fuzz-totals.lock"


class Totals:
    """One row a fuzzer: name, input, CPU seconds, cases, crashes."""

    def __init__(self) -> None:
        self.read()

    def read(self) -> None:
        with TOTALS.open(newline="") as file:
            self.rows = {row["fuzzer"]: row for row in csv.DictReader(file, delimiter="\t")}

    def add(self, name: str, seconds: float, cases: int, crashes: int) -> None:
        LOCK.parent.mkdir(exist_ok=True)
        with LOCK.open("w") as lock:  # several may run at once
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            self.count(name, seconds, cases, crashes)
            self.write()

    def count(self, name: str, seconds: float, cases: int, crashes: int) -> None:
        nothing = {"fuzzer": name, "input": "", "cpu_seconds": "0", "cases": "0", "crashes": "0"}
        row = self.rows.setdefault(name, nothing)
        for column, number in (("cpu_seconds", round(seconds)), ("cases", cases), ("crashes", crashes)):
            row[column] = str(int(row[column]) + number)

    def spent(self, name: str) -> int:
        return int(self.rows[name]["cpu_seconds"]) if name in self.rows else 0

    def write(self) -> None:
        with TOTALS.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["fuzzer", "input", "cpu_seconds", "cases", "crashes"],
                                    delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())

    def table(self) -> str:
        lines = []
        for name, row in self.rows.items():
            fixed = len(list((ROOT / "fuzz/corpus" / name).glob("crash*")))
            lines.append(f"| {row['input']} | {name} | {int(row['cpu_seconds']) / 60:,.0f} "
                         f"| {int(row['cases']):,} | {row['crashes']} | {fixed} |\n")
        return HEAD + "".join(lines)


def write_table(totals: Totals) -> None:
    totals.read()
    text = TABLE.read_text()
    begin = text.index(HEAD)
    end = text.index("\n\n", begin) + 1
    TABLE.write_text(text[:begin] + totals.table() + text[end:])


def cases_of(log: str) -> int:
    counts = [int(number) for number in re.findall(r"^#(\d+)", log, re.MULTILINE)]
    counts += [int(number) for number in re.findall(r"^stat::number_of_executed_units: (\d+)", log, re.MULTILINE)]
    return max(counts, default=0)


def work_folder(name: str) -> Path:
    """Where the inputs that a fuzzer finds pile up, beginning with those that were kept."""
    work = ROOT / "build/fuzz" / name
    if not work.exists():
        work.mkdir(parents=True)
        kept = GROWN / f"{name}.zip"
        if kept.exists():
            with zipfile.ZipFile(kept) as archive:
                archive.extractall(work)
    return work


def run_once(name: str, build: Path, seconds: int, recorded: bool) -> tuple[bool, float, int]:
    """One process of the fuzzer: whether it found nothing, its CPU seconds, its cases.

    What is not recorded judges a change: it goes the same way each time.
    """
    hang_seconds = LONG_HANG_SECONDS if recorded else HANG_SECONDS
    work = work_folder(name)
    seeds = ROOT / "fuzz/corpus" / name
    dictionary = ROOT / "fuzz/dictionaries" / f"{name}.dict"
    log = ROOT / "build/logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [str(build / "bin" / name), f"-max_total_time={seconds}", f"-timeout={hang_seconds}",
               "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={work}-", str(work), str(seeds)]
    if not recorded:
        command.insert(1, "-seed=1")
    if dictionary.exists():
        command.insert(1, f"-dict={dictionary}")
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    clean = code == 0 or only_slept(command[0], text)
    if not clean:
        print(f"FAILED: {name} (whole log: {log.relative_to(ROOT)})\n" + "\n".join(text.splitlines()[-30:]))
    return clean, usage.ru_utime + usage.ru_stime, cases_of(text)


def only_slept(program: str, log: str) -> bool:
    """A process that was stopped for a while seems to hang; its input is gone through in no time then."""
    written = re.search(r"Test unit written to (\S+-timeout-\w+)", log)
    if not written or subprocess.run([program, "-timeout=20", written[1]], capture_output=True, check=False).returncode:
        return False
    Path(written[1]).unlink()
    return True


def run(name: str, build: Path, seconds: int, totals: Totals | None) -> bool:
    left = float(seconds)
    while left >= 1:
        clean, used, cases = run_once(name, build, min(CHUNK_SECONDS, max(1, round(left))), totals is not None)
        if totals:
            totals.add(name, used, cases, not clean)
        if not clean:
            return False
        # A machine that does other things too gives less CPU time than was asked for; a short run stays short.
        left -= used if totals else left
    return True


def run_in_turns(names: list[str], build: Path, goal: int, totals: Totals, jobs: int) -> list[str]:
    """Always the fuzzers that have had the least, until each has had `goal` CPU seconds; gives those that failed."""
    failed: list[str] = []
    busy: set[str] = set()
    lock = threading.Lock()

    def turns() -> None:
        while True:
            with lock:
                spent = {name: totals.spent(name) for name in names if name not in busy and name not in failed}
                open_ones = [name for name, seconds in spent.items() if seconds < goal]
                if not open_ones:
                    return
                name = min(open_ones, key=lambda one: spent[one])
                busy.add(name)
            clean = run(name, build, max(2, min(CHUNK_SECONDS, goal - spent[name])), totals)
            with lock:
                busy.discard(name)
                if not clean:
                    failed.append(name)

    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(turns) for _ in range(jobs)]:
            done.result()
    return failed


def keep(name: str, build: Path) -> None:
    """The fewest and smallest inputs found that reach what the seeds do not, packed into one file."""
    with tempfile.TemporaryDirectory() as folder:
        merged = Path(folder) / "merged"
        shutil.copytree(ROOT / "fuzz/corpus" / name, merged)
        seeds = {path.name for path in merged.iterdir()}
        command = [build / "bin" / name, "-merge=1", "-rss_limit_mb=2048", merged, work_folder(name)]
        subprocess.run(command, check=True, capture_output=True)
        found = (path for path in merged.iterdir() if path.name not in seeds)
        new = sorted(found, key=lambda path: path.stat().st_size)
        GROWN.mkdir(exist_ok=True)
        size = 0
        with zipfile.ZipFile(GROWN / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in new:
                size += path.stat().st_size
                if size > KEPT_BYTES:
                    break
                archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    print(f"{name}: {len(new)} inputs found beside {len(seeds)} seeds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--build", type=Path, default=ROOT / "build-fuzz")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--up-to", type=int)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    totals = Totals()
    if given.table:
        write_table(totals)
        return 0
    built = [path.name for path in sorted((given.build / "bin").glob("*_fuzz"))]
    names = given.names or sorted(built, key=totals.spent)
    unknown = [name for name in names if name not in built]
    if unknown or not names:
        parser.error(f"{given.build}/bin has no fuzzer {', '.join(unknown)}: ./dev test fuzz builds them")
    if given.keep:
        for name in names:
            keep(name, given.build)
        return 0
    if given.up_to:
        failed = run_in_turns(names, given.build, given.up_to, totals, given.jobs)
    else:
        recorded = totals if given.record else None
        with ThreadPoolExecutor(given.jobs) as pool:
            clean = pool.map(lambda name: run(name, given.build, given.seconds, recorded), names)
            failed = [name for name, found_nothing in zip(names, clean, strict=True) if not found_nothing]
    if given.record or given.up_to:
        write_table(totals)
    print(f"{len(names) - len(failed)} of {len(names)} fuzzers found nothing"
          + "".join(f"; {name} did" for name in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
