#!/usr/bin/env python3
"""What a recorded training step costs under PyTorch: ours against the peer, and where the time goes.

usage: bench_collect.py [--only SUBSTRING] [--no-peer]
Every run is a process of its own (collect_step.py) with one torch thread and a fresh directory; peer and
ours take turns. Ratios are medians over pairs of a recorded and a plain step of one process, which take turns.
Nothing is deleted before the end: for minutes after a deletion ext4 takes milliseconds to make a file.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import collect_bounds
import disk_rate
import peers
import report
from collect_bounds import added, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = os.environ.get("MSPROBE_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
PEER = "26.2.0"
TIMEOUT = 150
HEADER = ["case", "peer 26.2", "ours", "ours, CPU of the thread", "added", "entries", "to reach"]


@dataclasses.dataclass
class Case:
    name: str
    model: str
    level: str
    goal: str
    limit: float = 0  # the ratio to reach; missed: what bounds it is measured
    task: str = "statistics"
    summary: str = "statistics"
    steps: int = 20
    peer_steps: int = 3
    runs: int = 2
    more: dict = dataclasses.field(default_factory=dict)  # for the top of config.json
    section: dict = dataclasses.field(default_factory=dict)


CASES = [
    Case("GPT L0 statistics", "gpt", "L0", "≤ 1.15", 1.15),
    Case("GPT L1 statistics", "gpt", "L1", "≤ 1.2", 1.2),
    Case("GPT mix statistics", "gpt", "mix", "≤ 1.3, ≤ 15 µs an entry", 1.3),
    Case("GPT mix md5", "gpt", "mix", "≤ 1.4", 1.4, summary="md5"),
    Case("GPT mix tensor", "gpt", "mix", "≤ 5", task="tensor", steps=5, peer_steps=2),
    Case("MLP 50 × Linear(32) L1 statistics", "mlp", "L1", "≤ 2.5"),
    Case("ResNet18 mix statistics", "resnet18", "mix", "≤ 1.05", 1.05, steps=3, peer_steps=2),
    Case("ResNet18 mix md5", "resnet18", "mix", "≤ 1.1", 1.1, summary="md5", steps=3, peer_steps=2, runs=1),
    Case("ResNet18 mix tensor", "resnet18", "mix", "≤ 2 or disk speed", task="tensor", steps=2, peer_steps=1,
         runs=1),
    Case("GPT hooked, not collecting", "gpt", "L1", "≤ 1.01", more={"step": [999999]}, steps=30, peer_steps=10),
]
# Each leaves out more than the one before: what is gained is the cost of what was left out.
PARTS = [
    ("all", Case("", "gpt", "mix", "")),
    ("reading values and writing numbers", Case("", "gpt", "mix", "", task="structure")),
    ("stacks and hierarchy", Case("", "gpt", "mix", "", task="structure", more={"extra_info": False})),
    ("gradients", Case("", "gpt", "mix", "", task="structure", more={"extra_info": False},
                       section={"data_mode": ["forward"]})),
    ("inputs and outputs", Case("", "gpt", "mix", "", task="structure", more={"extra_info": False},
                                section={"data_mode": ["forward"], "list": ["no such name"]})),
]


class Runner:
    def __init__(self, scratch: pathlib.Path) -> None:
        self.scratch = scratch
        self.serial = 0

    def run(self, side: str, case: Case, **extra) -> dict | None:
        """The result of one process; None when it failed or took too long."""
        self.serial += 1
        directory = self.scratch / str(self.serial)
        directory.mkdir()
        section = dict(case.section)
        if case.task != "structure":
            section["summary_mode"] = case.summary
        config = {"task": case.task, "level": case.level, "dump_path": str(directory / "dump"), "rank": [],
                  "step": [], **case.more, case.task: section}
        (directory / "config.json").write_text(json.dumps(config))
        wanted = {"model": case.model, "steps": case.steps if side == "ours" else case.peer_steps,
                  "alternate": side == "ours", "config": str(directory / "config.json"), **extra}
        (directory / "case.json").write_text(json.dumps(wanted))
        python = PYTHON if side == "ours" else str(peers.environment(PEER) / "bin" / "python")
        command = [python, str(ROOT / "bench" / "collect_step.py"), str(directory / "case.json"),
                   str(directory / "result.json")]
        try:
            done = subprocess.run(command, cwd=directory, timeout=TIMEOUT, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            print(f"{side} took more than {TIMEOUT} s: {case.name}", file=sys.stderr)
            return None
        if done.returncode != 0 or not (directory / "result.json").exists():
            print(f"{side} failed: {case.name}\n{done.stdout[-1000:]}", file=sys.stderr)
            return None
        result = json.loads((directory / "result.json").read_text())
        result["entries"] = self.entries(directory / "dump") if side == "ours" else 0
        if side == "ours" and case.task == "tensor":  # while the kernel still holds what was written
            sizes = disk_rate.sizes_of(directory / "dump" / "step1")
            rates = disk_rate.measure(directory / "plain", sizes)
            result["disk"] = {"files": len(sizes), "bytes": sum(sizes), **dataclasses.asdict(rates)}
        report.keep(f"{case.name or 'parts: ' + case.task}, {side}", result)
        return result

    @staticmethod
    def entries(dump: pathlib.Path) -> int:
        for file in dump.glob("step1/*/dump.json"):
            return len(json.loads(file.read_text())["data"])
        return 0


CLOCK, THREAD = 0, 1


def middle(results: list[dict], kind: str, column: int) -> float:
    return statistics.median(row[column] for result in results for row in result[kind])


def measure_case(runner: Runner, case: Case, with_peer: bool, missed: list[Case]) -> list[str]:
    ours, peer = [], []
    for turn in range(case.runs):
        if with_peer and turn == 0:
            peer.append(runner.run("peer", case))
        ours.append(runner.run("ours", case))
    ours = [result for result in ours if result]
    peer = [result for result in peer if result]
    if not ours:
        return [case.name, "–", "failed", "–", "–", "–", case.goal]
    if case.limit and ratio(ours, CLOCK) > case.limit:
        missed.append(case)
    entries = ours[0]["entries"]
    microseconds = added(ours) * 1e6
    cost = f"{microseconds / entries:.1f} µs an entry" if entries else f"{microseconds:.0f} µs a step"
    if "disk" in ours[0]:
        cost += "; " + beside_the_disk(ours)
    return [case.name, f"{ratio(peer, CLOCK):.2f}" if peer else "–", f"{ratio(ours, CLOCK):.2f}",
            f"{ratio(ours, THREAD):.2f}", cost, str(entries) if entries else "–", case.goal]


def beside_the_disk(results: list[dict]) -> str:
    """The bytes that a step saves: how fast the disk takes them from anybody, and how fast they come."""
    saved = results[0]["disk"]
    disk, kernel = (statistics.median(result["disk"][key] for result in results) for key in ("disk", "kernel"))
    rates = [disk, saved["bytes"] / middle(results, "recorded", CLOCK), kernel]
    return ("disk: {:.0f} MB/s, ours: {:.0f} MB/s, files that the kernel keeps in memory: {:.0f} MB/s ".format(
        *(rate / 1e6 for rate in rates)) + f"({saved['bytes'] / 1e6:.0f} MB in {saved['files']} files a step)")


def measure_calls(runner: Runner, with_peer: bool) -> list[str]:
    case = Case("10,000 calls in one step", "calls", "L1", "flat, ≤ 10 µs a call")
    ours = runner.run("ours", case, thousands=10)
    peer = runner.run("peer", case, thousands=2) if with_peer else None
    if not ours:
        return [case.name, "–", "failed", "–", "–", "–", case.goal]
    each = [row[THREAD] * 1e3 - middle([ours], "plain", THREAD) * 1e3 for row in ours["recorded"]]
    shown = f"{added([peer], CLOCK) * 1e3:.0f} µs a call" if peer else "–"
    return [case.name, shown, f"{added([ours], CLOCK) * 1e3:.1f} µs a call",
            f"{added([ours]) * 1e3:.1f} µs a call",
            f"second thousand {each[1]:.1f}, last {each[-1]:.1f} µs a call", "10000", case.goal]


def measure_import(runner: Runner, with_peer: bool) -> list[str]:
    case = Case("import beyond torch, and memory", "mlp", "L1", "≤ 0.1 s, ≤ 10 MB", steps=1, peer_steps=1)
    cells = []
    for side in ("peer", "ours"):
        runs = [runner.run(side, case) for _ in range(3 if side == "ours" else 1)] if side == "ours" or with_peer else []
        good = [run for run in runs if run]
        cells.append(f"{report.seconds(statistics.median(run['import'] for run in good))}, "
                     f"{report.megabytes(statistics.median(run['memory'] for run in good))}" if good else "–")
    return [case.name, *cells, "–", "–", "–", case.goal]


def measure_parts(runner: Runner) -> str:
    """Where the time of an entry goes, by leaving one thing after the other out."""
    costs, entries, fixed, writer = [], 0, 0.0, 0.0
    for position, (_, case) in enumerate(PARTS):
        case.steps = 25
        result = runner.run("ours", case, empty=position == 0)
        if not result:
            return "The parts could not be measured."
        costs.append(added([result]) * 1e6)
        if position == 0:
            entries = result["entries"]
            fixed = middle([result], "empty", THREAD) * 1e6
            writer = (added([result], 2) - added([result])) * 1e6
    rows = [[name, f"{(before - after) / entries:.1f}"]
            for (name, _), before, after in zip(PARTS[1:], costs, costs[1:])]
    rows.append(["start(), stop() and step()", f"{fixed / entries:.1f}"])
    rows.append(["seeing the calls, and names", f"{(costs[-1] - fixed) / entries:.1f}"])
    rows.append(["together", f"{costs[0] / entries:.1f}"])
    rows.append(["besides, in the writing thread", f"{writer / entries:.1f}"])
    return (f"Where the time of an entry goes (GPT mix statistics, {entries} entries a step, CPU of the thread that "
            "trains):\n\n" + report.table(["part", "µs an entry"], rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    with_peer = not options.no_peer and bool(peers.available(PEER))
    with tempfile.TemporaryDirectory(prefix="msprobe-bench-collect-") as scratch:
        body = measure_all(Runner(pathlib.Path(scratch)), options, with_peer)
    body = ("Ratio of a recorded to a plain training step, one torch thread, by the clock; beside it by the CPU time "
            "of the thread that trains.\n\n" + body)
    if options.only or options.no_peer:
        print(body)
    else:
        report.write_section("collect", "Collecting under PyTorch", body)
    return 0


def measure_all(runner: Runner, options: argparse.Namespace, with_peer: bool) -> str:
    missed: list[Case] = []
    rows = [measure_case(runner, case, with_peer, missed) for case in CASES if options.only in case.name]
    for name, measure in (("10,000 calls in one step", measure_calls), ("import", measure_import)):
        if options.only in name:
            rows.append(measure(runner, with_peer))
    body = report.table(HEADER, rows)
    if options.only in "parts":
        body += "\n\n" + measure_parts(runner)
    if missed:
        body += "\n\n" + collect_bounds.section(runner.run, missed, CASES[2])
    return body


if __name__ == "__main__":
    sys.exit(main())
