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
    """What each variant and an empty step add, as shares of a plain step; milliseconds of a plain step."""
    shares, plain, empty = [], [], 0.0
    for position, (_, change) in enumerate(VARIANTS):
        less = dataclasses.replace(case, name=f"{case.name}, bound {position}", **change)
        results = [result for result in (run("ours", less, empty=position == 0) for _ in range(less.runs)) if result]
        if not results:
            return None
        shares.append(ratio(results, THREAD) - 1)
        plain += [row[THREAD] for result in results for row in result["plain"]]
        if position == 0:
            empty = statistics.median(row[THREAD] for result in results for row in result["empty"])
            empty /= statistics.median(plain)
    return shares, empty, statistics.median(plain) * 1e3


def sentence(case, shares: list[float], empty: float, plain: float) -> str:
    def share(value: float) -> str:
        return f"{100 * value:.0f} %"

    everything, read_once, structure, seen, calls = shares
    allowed, floor = case.limit - 1, read_once - structure + seen
    verdict = ("more than all of it: the goal is out of reach while every call is seen and every value is read"
               if floor > allowed else f"which leaves {share(allowed - floor)} for all else")
    return (f"* {case.name}: {case.limit} allows {share(allowed)} of a plain step of {plain:.1f} ms. Reading each value "
            f"once takes {share(read_once - structure)}, seeing the calls {share(calls - empty)} and their gradients "
            f"{share(seen - calls)} without recording any, beginning and ending the step {share(empty)}: together "
            f"{share(floor)}, {verdict}. Noting what is recorded takes {share(structure - seen)}, making the numbers "
            f"of what has been read {share(everything - read_once)}.")


def hooks(run: Callable, case) -> str:
    """What torch takes to call hooks that do nothing."""
    result = run("ours", dataclasses.replace(case, name="empty hooks", steps=50), hooks=True)
    if not result:
        return "Empty hooks could not be measured."
    return (f"Torch by itself takes {added([result]) * 1e3:.2f} ms for calling a hook in C that does nothing on each "
            f"of the {result['nodes']} nodes of the GPT's graph, putting it there not counted.")


def section(run: Callable, missed: list, gpt) -> str:
    rows, sentences = [], []
    for case in missed:
        measured = measure(run, case)
        if measured is None:
            sentences.append(f"* {case.name}: its bounds could not be measured.")
            continue
        shares, empty, plain = measured
        rows.append([case.name, f"{case.limit}", *(f"{1 + share:.2f}" for share in [*shares, empty])])
        sentences.append(sentence(case, shares, empty, plain))
    header = ["case", "to reach", *(name for name, _ in VARIANTS), "step begun and ended"]
    return ("What bounds the cases that miss their goal: the ratio (CPU of the thread that trains) with less and less "
            "of the work:\n\n" + report.table(header, rows) + "\n\n" + "\n".join(sentences) + "\n\n" + hooks(run, gpt))
