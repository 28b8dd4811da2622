"""Nodes of real data that a person pairs by hand: measured from the tensor files that may be read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import CLI, Server

TARGET = "Functional.mine.0.forward"
GOLDEN = "Functional.theirs.0.forward"


def write_dump(directory: Path, call: str, output: np.ndarray) -> Path:
    """One module with one call; its tensors are files."""
    rank = directory / "step0" / "rank0"
    tensors = rank / "dump_tensor_data"
    tensors.mkdir(parents=True)

    def tensor(name: str, values: np.ndarray) -> dict[str, Any]:
        np.save(tensors / f"{name}.npy", values)
        return {
            "type": "torch.Tensor", "dtype": "torch.float32", "shape": list(values.shape),
            "Max": float(values.max()), "Min": float(values.min()), "Mean": float(values.mean()),
            "Norm": float(np.linalg.norm(values)), "requires_grad": False,
            "data_name": f"{name}.npy",
        }  # fmt: skip

    entry = np.linspace(1, 2, 1000, dtype=np.float32)
    module = "Module.net.Net.forward.0"

    def record(name: str) -> dict[str, Any]:
        return {
            "input_args": [tensor(f"{name}.input.0", entry)], "input_kwargs": {},
            "output": [tensor(f"{name}.output.0", output)],
        }  # fmt: skip

    dump = {
        "task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": str(tensors),
        "data": {call: record(call), module: record(module)},
    }  # fmt: skip
    (rank / "dump.json").write_text(json.dumps(dump))
    (rank / "construct.json").write_text(json.dumps({call: module, module: None}))
    (rank / "stack.json").write_text("{}")
    return directory


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    golden = np.linspace(1, 2, 1000, dtype=np.float32)
    target = golden.copy()
    target[:400] *= 1.5  # 60 % of the elements are within one thousandth
    return (
        write_dump(tmp_path / "dumps" / "target", TARGET, target),
        write_dump(tmp_path / "dumps" / "golden", GOLDEN, golden),
    )


def pair(server: Server) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pairs the two calls; the detail of the target's, and the counts of the unit."""
    (entry,) = server.api("files")["files"]
    unit = f"file={entry['file']}&u=0"
    assert server.open(entry["file"])["can_match"] is True
    free = [server.api(f"list?{unit}&by=unmatched&side={side}")["items"] for side in "tg"]
    t, g = ([item["id"] for item in items if ".0.forward" in item["name"]][0] for items in free)
    body = json.dumps({"t": t, "g": g, "children": False})
    origin = server.url.rstrip("/")
    status, _, answer = server.ask(f"/api/matches?{unit}", "POST", body, Origin=origin)
    assert status == 200, answer
    return server.api(f"node?{unit}&side=t&id={t}"), server.open(entry["file"])["units"][0]


def check_measured(node: dict[str, Any]) -> None:
    assert node["partner"]["name"] == GOLDEN
    assert node["node"]["role"] == ""  # no longer one that cannot be decided
    # All elements of the input agree within one thousandth, 60 % of those of the output.
    assert node["node"]["index"] == pytest.approx(0.4, abs=1e-3)
    output = next(value for value in node["values"] if value["key"] == "output.0")
    assert float(output["metrics"]["MaxAbsErr"]) == pytest.approx(0.7, abs=0.01)


def test_dumps_that_are_compared_on_the_fly(sides: tuple[Path, Path]) -> None:
    target, golden = sides
    server = Server(target, "--golden", golden)
    try:
        check_measured(pair(server)[0])
        assert (target.parent / "target.matches.json").exists()
    finally:
        server.stop()
    # What was saved is there, and measured, the next time.
    server = Server(target, "--golden", golden)
    try:
        server.open(".")
        found = server.api(f"search?file=.&u=0&q={TARGET}&side=t")["items"][0]
        check_measured(server.api(f"node?file=.&u=0&side=t&id={found['id']}"))
    finally:
        server.stop()


@pytest.mark.parametrize("form", ["vis", "db"])
def test_files_of_graphs_tell_why_there_is_no_index(
    sides: tuple[Path, Path], tmp_path: Path, form: str
) -> None:
    target, golden = sides
    output = tmp_path / "output"
    command = [CLI, "graph", "-tp", target, "-gp", golden, "-o", output, "--format", form]
    subprocess.run(command, check=True, capture_output=True)
    server = Server(output)
    try:
        node, counts = pair(server)
        assert node["node"]["index"] is None
        assert node["reason"] == (
            "paired by hand, not compared; "
            "the tensors lie where the viewer may not read: start it with --data DIR"
        )
        assert counts["counts"]["unmatched"] == [0, 0]
    finally:
        server.stop()
    server = Server(output, "--data", sides[0].parent)
    try:
        (entry,) = server.api("files")["files"]
        server.open(entry["file"])
        unit = f"file={entry['file']}&u=0"
        found = server.api(f"search?{unit}&q={TARGET}&side=t")["items"][0]
        check_measured(server.api(f"node?{unit}&side=t&id={found['id']}"))
    finally:
        server.stop()


def test_tensors_that_are_gone(sides: tuple[Path, Path], tmp_path: Path) -> None:
    target, golden = sides
    output = tmp_path / "output"
    command = [CLI, "graph", "-tp", target, "-gp", golden, "-o", output]
    subprocess.run(command, check=True, capture_output=True)
    target.parent.rename(tmp_path / "elsewhere")
    server = Server(output, "--data", tmp_path)
    try:
        node, _ = pair(server)
        assert node["node"]["index"] is None
        assert "no longer where they were collected" in node["reason"]
    finally:
        server.stop()
