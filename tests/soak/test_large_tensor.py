"""Tensors beyond 4 GiB: their files need the 64-bit fields of zip."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import torch
from conftest import CLI

COLLECT = """
import sys
import torch
from torch import nn
from msprobe.pytorch import PrecisionDebugger

values = torch.zeros((1 << 32) + 12_345, dtype=torch.uint8)
values[0], values[1 << 32], values[-1] = 3, 9, int(sys.argv[2])
model = nn.Sequential(nn.Identity())
debugger = PrecisionDebugger(level="L0", task="tensor", dump_path=sys.argv[1])
debugger.start(model)
model(values)
debugger.stop()
debugger.step()
"""


def test_a_tensor_beyond_4_gib(row, tmp_path):
    for name, last in (("target", 7), ("golden", 200)):
        subprocess.run([sys.executable, "-c", COLLECT, tmp_path / name, str(last)], check=True)
    path = next((tmp_path / "target").rglob("*input.0.pt"))
    values = torch.load(path, weights_only=True, mmap=True)
    assert values.shape == ((1 << 32) + 12_345,) and torch.count_nonzero(values) == 3
    assert (values[0], values[1 << 32], values[-1]) == (3, 9, 7)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    done = subprocess.run([CLI, "compare", tmp_path / "target", tmp_path / "golden"], capture_output=True, text=True)
    assert "verdict: diverged" in done.stdout, done.stdout + done.stderr
    row("tensor of 4.3 GB collected, read by torch and zipfile, compared", 2, "nothing is cut at 32 bits",
        f"{path.stat().st_size:,} bytes, all values there, the one that differs is told")
