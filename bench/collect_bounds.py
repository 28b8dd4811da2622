"""What bounds a case of bench_collect.py that misses its goal: the same case with less and less of it, in the
same run, and what torch itself takes for hooks that do nothing."""

import dataclasses
import statistics
from collections.abc import Callable

import report

THREAD = 1
NO_VALUES = {"task": "structure", "summary": "statistics"}
NO_RECORDS = {**NO_VALUES, "more": {"extra_info": False}}
NAMES_NOTHING = "no such name"
# (what is still done, how the case is changed): each leaves out more than the one before.
VARIANTS = [
    ("all", {}),
    ("each value read once, by XOR", {"summary": "xor"}),
    ("no value read", NO_VALUES),
    ("nothing recorded: calls and gradients are seen", {**NO_RECORDS, "section": {"list": [NAMES_NOTHING]}}),
    ("calls seen, no gradients", {**NO_RECORDS, "section": {"list": [NAMES_NOTHING], "data_mode": ["forward"]}}),
]
# Where a checksum is wanted, for what it costs by itself.
NO_CHECKSUM = ("statistics without the checksum", {"summary": "statistics"})
LEAST_RUNS = 2


def neighbours(results: list[dict], column: int) -> list[tuple[float, float]]:
    """(recorded, plain) step by step: where they take turns, the machine is equally fast for both of a pair."""
    return [(recorded[column], plain[column]) for result in results
            for recorded, plain in zip(result["recorded"], result["plain"][-len(result["recorded"]):])]


def added(results: list[dict], column: int = THREAD) -> float:
    """Seconds that a recorded step takes more than a plain one."""
    return statistics.median(recorded - plain for recorded, plain in neighbours(results, column))


def ratio(results: list[dict], column: int) -> float:
    return statistics.median(recorded / plain for recorded, plain in neighbours(results, column))


def measure(run: Callable, case) -> tuple[list[float], float, float] | None:
    """What each variant and an empty step add, as shares of a plain step; milliseconds of a plain step.

    The variants take turns, so that what is subtracted from each other was measured side by side.
    """
    variants = VARIANTS + ([NO_CHECKSUM] if case.summary == "md5" else [])
    results: list[list[dict]] = [[] for _ in variants]
    for _ in range(max(case.runs, LEAST_RUNS)):
        for position, (_, change) in enumerate(variants):
            less = dataclasses.replace(case, name=f"{case.name}, bound {position}", **change)
            result = run("ours", less, empty=position == 0)
            if result:
                results[position].append(result)
    if not all(results):
        return None
    plain = statistics.median(row[THREAD] for runs in results for result in runs for row in result["plain"])
    empty = statistics.median(row[THREAD] for result in results[0] for row in result["empty"])
    return [ratio(runs, THREAD) - 1 for runs in results], empty / plain, plain * 1e3


HEADER = ["case", "plain step", "to reach", "each value read once", "checksum", "calls seen", "gradients followed",
          "step begun and ended", "floor", "records noted", "statistics made of values", "seen"]


def row(case, shares: list[float], empty: float, plain: float) -> tuple[list[str], bool]:
    """What the floor is made of and what comes on top; whether the goal lies below the floor."""
    everything, read_once, structure, seen, calls = shares[:5]
    checksum = everything - shares[5] if len(shares) > 5 else None
    floor = read_once - structure + (checksum or 0) + seen
    parts = [read_once - structure, checksum, calls - empty, seen - calls, empty]
    above = [structure - seen, everything - read_once - (checksum or 0)]
    percent = ["–" if part is None else f"{100 * part:.1f} %" for part in parts + above]
    return ([case.name, f"{plain:.1f} ms", f"{case.limit}", *percent[:5], f"{1 + floor:.2f}", *percent[5:],
             f"{1 + everything:.2f}"], 1 + floor > case.limit)


def hooks(run: Callable, case) -> str:
    """What torch takes to call hooks that do nothing."""
    result = run("ours", dataclasses.replace(case, name="empty hooks", steps=50), hooks=True)
    if not result:
        return "Empty hooks could not be measured."
    return (f"Torch by itself takes {added([result]) * 1e3:.2f} ms for calling a hook in C that does nothing on each "
            f"of the {result['nodes']} nodes of the GPT's graph, putting it there not counted.")


def section(run: Callable, missed: list, gpt) -> str:
    rows, below, failed = [], [], []
    for case in missed:
        measured = measure(run, case)
        if measured is None:
            failed.append(case.name)
            continue
        cells, out_of_reach = row(case, *measured)
        rows.append(cells)
        if out_of_reach:
            below.append(case.name)
    text = ("What the floor is made of, for the cases that miss their goal: the same step with less and less of the "
            "work, in per cent of a plain step (CPU of the thread that trains). The floor reads each value once (XOR), "
            "sees the calls and follows their gradients, and writes nothing down; where checksums are wanted, they are part "
            "of it: what the case takes more than the same one with statistics alone.\n\n" + report.table(HEADER, rows))
    if below:
        text += ("\n\nOut of reach while every call is seen and every value is read, for the floor lies above the goal: "
                 + ", ".join(below) + ".")
    if failed:
        text += "\n\nCould not be measured: " + ", ".join(failed) + "."
    return text + "\n\n" + hooks(run, gpt)
