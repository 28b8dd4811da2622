"""Automatic matching of real recordings: one model written the way two stacks write it.

match_pairs/*.tar.xz were recorded by bench/record_match_pairs.py; truth.json says what is the same.
"""
import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench")]

import match_judge  # noqa: E402
from run import program  # noqa: E402

ARCHIVES = sorted((HERE / "match_pairs").glob("*.tar.xz"))
UNRELATED = "gpt2_against_llama"


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.split(".")[0])
def test_pairs_are_found_and_none_is_wrong(archive, tmp_path):
    name = archive.name.split(".")[0]
    verdict = match_judge.judge_archive(archive, tmp_path, program())
    assert not verdict.wrong, "\n".join(verdict.wrong)
    if name != UNRELATED:
        assert verdict.found >= 0.95 * verdict.known, "\n".join(verdict.missed)
        assert verdict.groups_found == verdict.groups


def test_confidence_is_shown(tmp_path):
    case = match_judge.unpack(ARCHIVES[0], tmp_path)
    subprocess.run([program(), "graph", case / "target", case / "golden", "-o", tmp_path / "out", "--match", "auto"],
                   check=True, capture_output=True)
    [written] = (tmp_path / "out").glob("*.vis")
    nodes = json.loads(written.read_text())["NPU"]["node"]
    paired = [node for node in nodes.values() if len(node["matched_node_link"]) > 1]
    assert paired and all("matched automatically, confidence " in node["msprobe"]["reason"] for node in paired)
