"""A small part of the corpus of bench/locate: the first answer is the altered call."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCATE = ROOT / "bench" / "locate"
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("locate")
    subprocess.run([sys.executable, str(LOCATE / "corpus.py"), str(root), "--only", "gpt", "--faults", "12",
                    "--benign", "6"], check=True, timeout=300)
    sys.path.insert(0, str(LOCATE))
    try:
        import score
    finally:
        sys.path.remove(str(LOCATE))
    found = score.score(root, score.load(root), lambda target, golden: score.ask_msprobe(CLI, target, golden))
    return found, score.misses(found)


def test_the_altered_call_is_named_first(results):
    found, misses = results
    assert sum(not result.case["benign"] for result in found) >= 30
    assert not [line for line in misses if "wanted no culprit" not in line]


def test_nobody_is_blamed_for_rounding(results):
    found, misses = results
    assert sum(result.case["benign"] for result in found) >= 12
    assert not [line for line in misses if "wanted no culprit" in line]
