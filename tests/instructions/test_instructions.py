"""Instructions that fixed jobs execute, counted by callgrind: a regression shows on any machine, loaded or not.

counts.json holds what they were when last accepted. `MSPROBE_REBASELINE=1` rewrites it; look at the difference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build/bin/msprobe"))
COUNTS = Path(__file__).with_name("counts.json")
# Other processors take other SIMD paths and other versions of memcpy.
MORE_IS_A_REGRESSION = 1.10
LAYERS, CALLS = 50, 40

JOBS = {
    "build 2,000 nodes": ["graph", "target", "-o", "out"],
    "compare 2 × 2,000 nodes, .vis": ["graph", "target", "golden", "-o", "out"],
    "compare 2 × 2,000 nodes, .vis.db": ["graph", "target", "golden", "-o", "out", "--format", "db"],
    "real data, 2 × 4 MiB": ["graph", "data_target", "data_golden", "-o", "out"],
    "inspect": ["inspect", "target", "--json"],
}


def write_json(directory: Path, data: dict, construct: dict, task: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "dump.json").write_text(json.dumps({"task": task, "level": "mix", "data": data}))
    (directory / "construct.json").write_text(json.dumps(construct))
    stack = {name: ["File /a/model.py, line 1, in forward, \n x = f(x)"] for name in data}
    (directory / "stack.json").write_text(json.dumps(stack))


def tensor(value: float) -> dict:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 4], "Max": value, "Min": -value,
            "Mean": value / 7, "Norm": value * 3, "requires_grad": True}


def statistics(directory: Path, off: float) -> None:
    data, construct = {}, {}
    for layer in range(LAYERS):
        module = f"Module.net.layers.{layer}.Block.forward.0"
        for call in range(layer * (CALLS - 1), (layer + 1) * (CALLS - 1)):
            name = f"Functional.relu.{call}.forward"
            data[name] = {"input_args": [tensor(1.1 + call)], "input_kwargs": {}, "output": [tensor(2.2 + call + off)]}
            construct[name] = module
        data[module] = {"input_args": [tensor(0.3)], "input_kwargs": {}, "output": [tensor(0.7 + off)]}
        construct[module] = None
    write_json(directory, data, construct, "statistics")


def real_data(directory: Path, off: float) -> None:
    import numpy

    tensors = directory / "dump_tensor_data"
    tensors.mkdir(parents=True)
    record: dict = {"input_args": [], "input_kwargs": {}, "output": []}
    for place, value in (("input_args", 0.0), ("output", off)):
        name = f"Torch.relu.0.forward.{'input' if place == 'input_args' else 'output'}.0.npy"
        numpy.save(tensors / name, (numpy.arange(1 << 19) % 1000 + value).astype(numpy.float32))
        record[place] = [tensor(1.0) | {"shape": [1 << 19], "data_name": name}]
    write_json(directory, {"Torch.relu.0.forward": record}, {"Torch.relu.0.forward": None}, "tensor")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("instructions")
    for side, off in (("target", 0.5), ("golden", 0.0)):
        statistics(place / side, off)
        real_data(place / f"data_{side}", off)
    return place


@pytest.mark.parametrize("job", JOBS)
def test_no_more_instructions_than_before(job: str, folder: Path) -> None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("valgrind is not installed: ./dev setup test")
    shutil.rmtree(folder / "out", ignore_errors=True)
    done = subprocess.run([valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", CLI, *JOBS[job]],
                          cwd=folder, text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    count = int(re.search(r"Collected : (\d+)", done.stderr)[1])
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    if os.environ.get("MSPROBE_REBASELINE"):
        COUNTS.write_text(json.dumps(counts | {job: count}, indent=1) + "\n")
        return
    ratio = count / counts[job]
    print(f"{job}: {count:,} instructions, {ratio:.3f} of before", file=sys.stderr)
    assert ratio <= MORE_IS_A_REGRESSION, f"{count:,} instructions, {counts[job]:,} before"
