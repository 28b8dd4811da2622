#!/usr/bin/env python3
"""How often the first answer is the true culprit: faults and benign pairs of bench/locate.

usage: bench_locate.py [--faults N] [--benign N] [--keep DIR] [--no-peer]   (numbers: for each model)
MSPROBE_PYTHON: a Python with torch and msprobe, which records the corpus (default .venv's).
"""

import argparse
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import peers
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))
PYTHON = os.environ.get("MSPROBE_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
LOCATE = ROOT / "bench" / "locate"
sys.path.insert(0, str(LOCATE))
import score  # noqa: E402

NAMES = {"tensor": "real data", "statistics": "statistics", "md5": "md5"}
GOALS = {"tensor": "≥ 99 %", "statistics": "≥ 95 %", "md5": "–"}
NOTES = """\
Corpus: four small models (GPT, ResNet, mixture of experts, encoder-decoder) in real torch on CPU,
collected at level mix; faults in the kernels of random ops (forward and backward) and mistakes in the
program or the weights. Right is an answer whose first culprit (without one: first difference) is the altered
call; `bench/locate/truth.py` says what that is where the fault lies between two records. Pairs of which no
record shows anything are left out. Benign: other threads, other order of sums, without oneDNN, channels
last, fused attention, bfloat16, float16 and autocast against float32, float32 against float64. By md5
only pairs of equal bits are benign."""
PEER_NOTE = """
The peer is `compare -da` of mindstudio-probe 26.2.0 on every {step}th pair (each takes it some seconds); the share
that ours gets right of the same pairs stands in brackets."""
PEER_STEP = 40


def ask_peer(root: pathlib.Path, cases: list[dict]) -> list[score.Result]:
    program = str(peers.environment("26.2.0") / "bin" / "msprobe")
    return score.score(root, cases[::PEER_STEP], functools.partial(score.ask_peer, program), jobs=os.cpu_count() or 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--benign", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path, help="the corpus stays here, and is taken from here if it is there")
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()
    root = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="msprobe-locate-"))
    if not (root / "cases.json").exists():
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run([PYTHON, str(LOCATE / "corpus.py"), str(root), "--faults", str(arguments.faults),
                        "--benign", str(arguments.benign)], check=True)
    cases = score.load(root)
    results = score.score(root, cases, functools.partial(score.ask_msprobe, CLI), jobs=os.cpu_count() or 1)
    peer = None if arguments.no_peer else ask_peer(root, cases)
    rows = []
    for mode in score.MODES:
        for benign, what in ((False, "the culprit is named first"), (True, "no culprit on a benign pair")):
            chosen = [result for result in results if result.mode == mode and result.case["benign"] == benign]
            theirs = [result for result in peer or () if result.mode == mode and result.case["benign"] == benign]
            same = {(result.case["target"], result.case["golden"]) for result in theirs}
            ours = [result for result in chosen if (result.case["target"], result.case["golden"]) in same]
            beside = f"{score.share(theirs)} ({score.share(ours)})" if theirs else "–"
            rows.append([what, NAMES[mode], score.share(chosen), beside, "all" if benign else GOALS[mode]])
    notes = NOTES + (PEER_NOTE.format(step=PEER_STEP) if peer else "")
    missed = "\n".join(f"* {line}" for line in score.misses(results)) or "None."
    body = f"{report.table(['', 'dumps', 'right', 'peer', 'to reach'], rows)}\n\n{notes}\n\nMisses:\n\n{missed}"
    if arguments.faults >= 100 and arguments.benign >= 50:
        report.write_section("locate", "Finding the first wrong operation", body)
    else:
        print(body)
    if arguments.keep is None:
        shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
