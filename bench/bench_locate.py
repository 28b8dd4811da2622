#!/usr/bin/env python3
"""How often the first answer is the true culprit: faults and benign pairs of bench/locate.

usage: bench_locate.py [--faults N] [--benign N] [--keep DIR] [--part PART] [--no-peer]   (N: for each model)
--keep: corpora and answers stay in DIR, and are taken from there; --part: only that part is made and asked.
MSPROBE_PYTHON: a Python with torch and msprobe, which records the corpus (default .venv's).
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Optional

import peers
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))
PYTHON = os.environ.get("MSPROBE_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
LOCATE = ROOT / "bench" / "locate"
sys.path.insert(0, str(LOCATE))
import score  # noqa: E402

PARTS = ("main", "held-out", "two-ranks", "peer")
NAMES = {"tensor": "real data", "statistics": "statistics", "md5": "md5"}
GOALS = {"tensor": "≥ 99 %", "statistics": "≥ 95 %", "md5": "–"}
RANK_GOAL = "≥ 95 %"
HELD_OUT_SEED = 29
NOTES = """\
Corpus: four small models (GPT, ResNet, mixture of experts, encoder-decoder) in real torch on CPU,
collected at level mix; faults in the kernels of random ops (forward and backward) and mistakes in the
program or the weights. Right is an answer whose first culprit (without one: first difference) is the altered
call; `bench/locate/truth.py` says what that is where the fault lies between two records. Pairs of which no
record shows anything are left out. Benign: other threads, other order of sums, without oneDNN, channels
last, fused attention, bfloat16, float16 and autocast against float32, float32 against float64. By md5
only pairs of equal bits are benign. Held out: other weights, data and places of the faults, and a fifth
model (rotary places, shared keys, gated products, RMSNorm); no rule was made on them. Two ranks: gloo
processes with layers cut over both; right is the altered call on the altered rank (a missing all-reduce: on
either)."""
PEER_NOTE = """
The peer is `compare -da` of mindstudio-probe 26.2.0 on every {step}th pair (each takes it some seconds); the share
that ours gets right of the same pairs stands in brackets."""
PEER_STEP = 40


@dataclasses.dataclass
class Corpora:
    root: pathlib.Path
    faults: int
    benign: int

    def folder(self, part: str) -> pathlib.Path:
        return self.root if part in ("main", "peer") else self.root / part

    def cases(self, part: str) -> list[dict]:
        """Of a part, recorded now if they are not there."""
        folder = self.folder(part)
        name = "cases-ranks.json" if part == "two-ranks" else "cases.json"
        if not (folder / name).exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([PYTHON, *self.recorder(part)], check=True)
        return score.load(folder, name)

    def recorder(self, part: str) -> list[str]:
        folder = str(self.folder(part))
        if part == "two-ranks":
            return [str(LOCATE / "ranks.py"), folder]
        corpus = [str(LOCATE / "corpus.py"), folder]
        if part == "held-out":
            return corpus + ["--faults", str(2 * self.faults // 5), "--benign", str(self.benign // 5), "--held-out",
                             "--seed", str(HELD_OUT_SEED)]
        return corpus + ["--faults", str(self.faults), "--benign", str(self.benign)]

    def answers(self, part: str) -> list[score.Result]:
        kept = self.folder(part) / f"answers-{part}.json"
        if kept.exists():
            return [score.Result(one["case"], one["mode"], score.Answer(**one["answer"]), one["right"])
                    for one in json.loads(kept.read_text())]
        cases = self.cases(part)
        ask = functools.partial(score.ask_msprobe, CLI)
        if part == "peer":
            cases = cases[::PEER_STEP]
            ask = functools.partial(score.ask_peer, str(peers.environment("26.2.0") / "bin" / "msprobe"))
        results = score.score(self.folder(part), cases, ask, jobs=os.cpu_count() or 1)
        kept.write_text(json.dumps([dataclasses.asdict(result) for result in results]))
        return results


def chosen(results: list[score.Result], mode: str, benign: bool) -> list[score.Result]:
    return [result for result in results if result.mode == mode and result.case["benign"] == benign]


def rows_of(results: list[score.Result], peer: Optional[list[score.Result]]) -> list[list[str]]:
    rows = []
    for mode in score.MODES:
        for benign, what in ((False, "the culprit is named first"), (True, "no culprit on a benign pair")):
            theirs = chosen(peer or [], mode, benign)
            same = {(result.case["target"], result.case["golden"]) for result in theirs}
            own = chosen(results, mode, benign)
            ours = [result for result in own if (result.case["target"], result.case["golden"]) in same]
            beside = f"{score.share(theirs)} ({score.share(ours)})" if theirs else "–"
            rows.append([what, NAMES[mode], score.share(own), beside, "all" if benign else GOALS[mode]])
    return rows


def body_of(corpora: Corpora, with_peer: bool) -> str:
    main, held_out, ranks = (corpora.answers(part) for part in PARTS[:3])
    peer = corpora.answers("peer") if with_peer else None
    rows = rows_of(main, peer)
    rows += [[f"held out: {row[0]}", *row[1:]] for row in rows_of(held_out, None)]
    rows += [["two ranks: culprit and rank are named first", NAMES[mode], score.share(chosen(ranks, mode, False)), "–",
              RANK_GOAL] for mode in score.MODES]
    notes = NOTES + (PEER_NOTE.format(step=PEER_STEP) if peer else "")
    missed = [line for results in (main, ranks) for line in score.misses(results)]
    missed += [f"held out, {line}" for line in score.misses(held_out)]
    listed = "\n".join(f"* {line}" for line in missed) or "None."
    return f"{report.table(['', 'dumps', 'right', 'peer', 'to reach'], rows)}\n\n{notes}\n\nMisses:\n\n{listed}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--benign", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()
    root = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="msprobe-locate-"))
    corpora = Corpora(root, arguments.faults, arguments.benign)
    if arguments.part:
        results = corpora.answers(arguments.part)
        print(f"{arguments.part}: {score.share(results)}", *score.misses(results), sep="\n")
        return 0
    body = body_of(corpora, not arguments.no_peer and bool(peers.available("26.2.0")))
    if arguments.faults >= 100 and arguments.benign >= 50:
        report.write_section("locate", "Finding the first wrong operation", body)
    else:
        print(body)
    if arguments.keep is None:
        shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
