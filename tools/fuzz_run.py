#!/usr/bin/python3
"""Runs fuzzers and counts what they did, over all runs: fuzz/totals.tsv, shown in docs/robustness.md.

fuzz_run.py --seconds 8 NAME...             a short run, nothing is recorded
fuzz_run.py --record --seconds 1800 NAME... CPU seconds for each; adds them to the totals
fuzz_run.py --table                         only writes the table again

Without names all fuzzers run, those first that have had the least CPU time. A crash leaves its input in build/fuzz:
when it is mended it goes into fuzz/corpus/NAME under a name that begins with `crash`, which is how crashes are
counted as fixed.
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import re
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOTALS = ROOT / "fuzz/totals.tsv"
TABLE = ROOT / "docs/robustness.md"
HEAD = "| input | fuzzer | CPU minutes | cases | crashes found | fixed |\n|---|---|---|---|---|---|\n"
CHUNK_SECONDS = 300
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


def run_once(name: str, build: Path, seconds: int) -> tuple[bool, float, int]:
    """One process of the fuzzer: whether it found nothing, its CPU seconds, its cases."""
    work = ROOT / "build/fuzz" / name
    seeds = ROOT / "fuzz/corpus" / name
    dictionary = ROOT / "fuzz/dictionaries" / f"{name}.dict"
    log = ROOT / "build/logs" / f"{name}.log"
    for directory in (work, log.parent):
        directory.mkdir(parents=True, exist_ok=True)
    command = [str(build / "bin" / name), f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={work}-", str(work), str(seeds)]
    if dictionary.exists():
        command.insert(1, f"-dict={dictionary}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with log.open("w") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = log.read_text(errors="replace")
    clean = code == 0 or only_slept(command[0], text)
    if not clean:
        print(f"FAILED: {name} (whole log: {log.relative_to(ROOT)})\n" + "\n".join(text.splitlines()[-30:]))
    return clean, used, cases_of(text)


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
        clean, used, cases = run_once(name, build, min(CHUNK_SECONDS, max(1, round(left))))
        if totals:
            totals.add(name, used, cases, not clean)
        if not clean:
            return False
        # A machine that does other things too gives less CPU time than was asked for; a short run stays short.
        left -= used if totals else left
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--build", type=Path, default=ROOT / "build-fuzz")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    totals = Totals()
    if given.table:
        write_table(totals)
        return 0
    built = [path.name for path in sorted((given.build / "bin").glob("*_fuzz"))]
    spent = {name: int(row["cpu_seconds"]) for name, row in totals.rows.items()}
    names = given.names or sorted(built, key=lambda name: spent.get(name, 0))
    failed = [name for name in names if not run(name, given.build, given.seconds, totals if given.record else None)]
    if given.record:
        write_table(totals)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
