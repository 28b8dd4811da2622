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


def middle(results: list[dict], kind: str) -> float:
    """Milliseconds of CPU of the thread that trains."""
    return statistics.median(row[THREAD] for result in results for row in result[kind]) * 1e3


def measure(run: Callable, case) -> tuple[list[float], float, float] | None:
    """Milliseconds that each variant adds to a step, those of an empty step, and of a plain one."""
    added, plain, empty = [], [], 0.0
    for position, (_, change) in enumerate(VARIANTS):
        less = dataclasses.replace(case, name=f"{case.name}, bound {position}", **change)
        results = [result for result in (run("ours", less, empty=position == 0) for _ in range(less.runs)) if result]
        if not results:
            return None
        plain.append(middle(results, "plain"))
        added.append(middle(results, "recorded") - plain[-1])
        if position == 0:
            empty = middle(results, "empty")
    return added, empty, statistics.median(plain)


def sentence(case, added: list[float], empty: float, plain: float) -> str:
    everything, read_once, structure, seen, calls = added
    allowed = (case.limit - 1) * plain
    reading = read_once - structure
    floor = reading + seen
    verdict = ("which is more than all of it: the goal is out of reach while every call is seen and every value read"
               if floor > allowed else f"which leaves {allowed - floor:.2f} ms for all else")
    return (f"* {case.name}: {case.limit} allows {allowed:.2f} ms a step. Reading each value once takes {reading:.2f}, "
            f"seeing the calls {calls - empty:.2f} and their gradients {seen - calls:.2f} without recording any, "
            f"beginning and ending the step {empty:.2f}: together {floor:.2f} ms, {verdict}. Noting what is "
            f"recorded takes {structure - seen:.2f}, making the numbers of what has been read "
            f"{everything - read_once:.2f}.")


def hooks(run: Callable, case) -> str:
    """What torch takes to call hooks that do nothing."""
    result = run("ours", dataclasses.replace(case, name="empty hooks", steps=50), hooks=True)
    if not result:
        return "Empty hooks could not be measured."
    added = middle([result], "recorded") - middle([result], "plain")
    return (f"Torch by itself takes {added:.2f} ms for calling a hook in C that does nothing on each of the "
            f"{result['nodes']} nodes of the GPT's graph, putting it there not counted.")


def section(run: Callable, missed: list, gpt) -> str:
    rows, sentences = [], []
    for case in missed:
        measured = measure(run, case)
        if measured is None:
            sentences.append(f"* {case.name}: its bounds could not be measured.")
            continue
        added, empty, plain = measured
        rows.append([case.name, f"{case.limit}", *(f"{1 + value / plain:.2f}" for value in [*added, empty])])
        sentences.append(sentence(case, added, empty, plain))
    header = ["case", "to reach", *(name for name, _ in VARIANTS), "step begun and ended"]
    return ("What bounds the cases that miss their goal: the ratio (CPU of the thread that trains) with less and less "
            "of the work:\n\n" + report.table(header, rows) + "\n\n" + "\n".join(sentences) + "\n\n" + hooks(run, gpt))
