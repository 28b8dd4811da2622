"""Compares every pair of the corpus, and sees whether the first answer is right."""

import concurrent.futures
import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, Callable, Optional

MODES = ("tensor", "statistics", "md5")


@dataclasses.dataclass
class Answer:
    """What a tool says of one pair: the places where the error starts, the best first."""

    first: Optional[str]
    culprits: list[str]
    error: str = ""
    rank: Optional[int] = None  # where `first` is


@dataclasses.dataclass
class Result:
    case: dict
    mode: str
    answer: Answer
    right: bool


def ask_msprobe(cli: str, target: pathlib.Path, golden: pathlib.Path, *more: str) -> Answer:
    """The first divergence that `msprobe graph` names."""
    with tempfile.TemporaryDirectory(prefix="msprobe-locate-") as output:
        command = [cli, "graph", str(target), str(golden), "-o", output, "--json", "-j", "1", *more]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return Answer(None, [], done.stderr[-2000:])
    return answer_of(json.loads(done.stdout))


def ask_peer(program: str, target: pathlib.Path, golden: pathlib.Path) -> Answer:
    """The nodes that `compare -da` of mindstudio-probe names."""
    with tempfile.TemporaryDirectory(prefix="msprobe-locate-") as folder:
        place = pathlib.Path(folder)
        for side, dump in (("target", target), ("golden", golden)):
            shutil.copytree(dump, place / side / "rank0")
        (place / "out").mkdir()
        done = subprocess.run([program, "compare", "-tp", str(place / "target"), "-gp", str(place / "golden"),
                               "-o", str(place / "out"), "-da"], capture_output=True, text=True)
        found = [json.loads(path.read_text()) for path in (place / "out").glob("diff_analyze_*.json")]
    if not found and done.returncode != 0:
        return Answer(None, [], done.stderr[-500:])
    names = [node["op_name"] for answer in found for nodes in answer.values() for node in nodes]
    return Answer(names[0] if names else None, names)


def answer_of(summary: dict) -> Answer:
    culprits = summary["first_culprits"]
    first = culprits[0] if culprits else summary.get("first_difference") or {}
    return Answer(first.get("name"), [culprit["name"] for culprit in culprits], rank=first.get("rank"))


def is_right(case: dict, mode: str, answer: Answer) -> bool:
    if answer.error:
        return False
    if case["benign"]:
        return not answer.culprits
    if case.get("ranks", -1) not in (-1, answer.rank):  # -1: wrong on all ranks alike
        return False
    return answer.first in case["truth"][mode]["names"]


def score(root: pathlib.Path, cases: list[dict], ask: Callable[[pathlib.Path, pathlib.Path], Answer],
          modes: tuple = MODES, jobs: int = 2) -> list[Result]:
    def one(work: tuple[dict, str]) -> Result:
        case, mode = work
        answer = ask(root / case["target"] / mode, root / case["golden"] / mode)
        return Result(case, mode, answer, is_right(case, mode, answer))

    # Checksums know no rounding: every benign pair that is not the same bit by bit differs by them.
    work = [(case, mode) for case in cases for mode in modes
            if not (case["benign"] and mode == "md5" and not case["same_bits"])
            and (case["benign"] or case["truth"][mode]["names"])]  # else no record shows anything
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, work))


def share(results: list[Result]) -> str:
    right = sum(result.right for result in results)
    return f"{right} of {len(results)}" + (f" = {100 * right / len(results):.1f} %" if results else "")


def misses(results: list[Result]) -> list[str]:
    lines = []
    for result in results:
        if result.right:
            continue
        case = result.case
        wanted = "no culprit" if case["benign"] else " or ".join(case["truth"][result.mode]["names"])
        said = result.answer.error or (", ".join(result.answer.culprits[:2]) or f"none; first difference {result.answer.first}")
        at = "" if case.get("ranks", -1) == -1 else f" on rank {case['ranks']}"
        there = "" if result.answer.rank is None else f" on rank {result.answer.rank}"
        lines.append(f"{result.mode}, {case['model']}, {case['kind']} ({case['target']}): wanted {wanted}{at}; "
                     f"said {said}{there}")
    return lines


def load(root: pathlib.Path, name: str = "cases.json") -> Any:
    return json.loads((root / name).read_text())
