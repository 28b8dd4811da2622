"""Runs commands and measures them from outside: wall time, CPU time, peak anonymous memory."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import threading
import time

import report


@dataclasses.dataclass
class Run:
    """One finished process tree. Seconds and bytes; `rss_anon` is the peak of the sum over the tree."""

    wall: float
    cpu: float
    rss_anon: int
    output: str


def _children(pid: int) -> list[int]:
    found = [pid]
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:  # the process has ended meanwhile
        return found
    for task in tasks:
        try:
            for child in task.read_text().split():
                found += _children(int(child))
        except OSError:
            continue
    return found


def rss_anon(pid: int) -> int:
    total = 0
    for process in _children(pid):
        try:
            for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1]) * 1024
        except OSError:
            continue
    return total


def run(command: list[str], *, env: dict[str, str] | None = None, cwd: str | None = None,
        allow_codes: tuple[int, ...] = (0,)) -> Run:
    """Runs `command` to its end; raises RuntimeError with the output's tail when it fails."""
    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **(env or {})}, cwd=cwd, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    peak = 0

    def sample() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, rss_anon(process.pid))
            # Long runs need few samples; short ones would be over before the second.
            time.sleep(min(0.05, max(0.001, (time.perf_counter() - start) / 20)))

    sampler = threading.Thread(target=sample)
    sampler.start()
    output, _ = process.communicate()
    wall = time.perf_counter() - start
    sampler.join()
    after = os.times()
    if process.returncode not in allow_codes:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output[-2000:]}")
    cpu = (after.children_user + after.children_system) - (before.children_user + before.children_system)
    # The place of the output is another one in each run.
    shown = [part for before, part in zip(["", *command], command) if "-o" not in (before, part)]
    name = " ".join(pathlib.Path(part).name if "/" in part else part for part in shown)
    report.keep(name, {"wall": round(wall, 4), "cpu": round(cpu, 2), "rss_anon": peak})
    return Run(wall, cpu, peak, output)


def median(runs: list[Run], field: str) -> float:
    return statistics.median(getattr(item, field) for item in runs)


def alternate(commands: dict[str, tuple[list[str], int]], **options) -> dict[str, list[Run]]:
    """Runs each named command as often as it says, in turn, so that drift hits all alike."""
    results: dict[str, list[Run]] = {name: [] for name in commands}
    rounds = max(times for _, times in commands.values())
    for turn in range(rounds):
        for name, (command, times) in commands.items():
            if turn < times:
                results[name].append(run(command, **options))
    return results
