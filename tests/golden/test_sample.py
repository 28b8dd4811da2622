"""The demo: recordings of a small GPT, of which one forgets a scale, lead to the line that does."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build/bin/msprobe"))


def test_the_demo_names_the_injected_fault(tmp_path: Path) -> None:
    sample = ROOT / "examples/sample"
    done = subprocess.run([CLI, "graph", sample / "target", sample / "golden", "-o", tmp_path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    assert "first divergence: Tensor.mul.1.forward" in done.stdout
    assert "more place" not in done.stdout  # it is the only one
    place = re.search(r"^ +(examples/\S+\.py):(\d+)  (.+)$", done.stdout, re.M)
    assert place is not None, done.stdout
    source = (ROOT / place[1]).read_text().splitlines()
    assert source[int(place[2]) - 1].strip() == place[3] == "scores = scores.mul(self.scale)"
