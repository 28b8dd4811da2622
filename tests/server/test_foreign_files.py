"""Files that mindstudio-probe has written (1.2.1: `.vis`, 26.2.0: `.vis.db`) open as ours do.

They are what it makes of tests/golden/cases/graph/cmp_ranks/input.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Server

HERE = Path(__file__).resolve().parent / "foreign"
VIS = "compare_rank*_20260101000000.vis"
DB = "compare_20260101000000.vis.db"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("foreign")
    for packed in HERE.glob("*.gz"):
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    server = Server(folder)
    yield server
    assert server.stop()[0] == 0


@pytest.mark.parametrize("file", [VIS, DB])
def test_ranks_and_counts(foreign: Server, file: str) -> None:
    answer = foreign.open(file)
    assert answer["type"] == "compare"
    assert [unit["rank"] for unit in answer["units"]] == [0, 1]
    for unit in answer["units"]:
        target, golden = unit["nodes"]
        assert target > 20
        assert golden > 20
        unmatched = unit["counts"]["unmatched"]
        assert sum(unit["counts"]["bands"]) + unmatched[0] <= target


@pytest.mark.parametrize("file", [VIS, DB])
def test_rows_face_each_other(foreign: Server, file: str) -> None:
    foreign.open(file)
    rows = foreign.api(f"rows?file={file}&u=0&t=0&g=0")["rows"]
    assert rows
    facing = [row for row in rows if row["t"] and row["g"]]
    assert facing
    for row in facing:
        assert row["t"]["name"] == row["g"]["name"]
        assert row["t"]["partner"] == row["g"]["id"]


@pytest.mark.parametrize("file", [VIS, DB])
def test_a_node_shows_values_stack_and_partner(foreign: Server, file: str) -> None:
    foreign.open(file)
    query = f"file={file}&u=0"
    found = foreign.api(f"search?{query}&q=linear*forward&side=t")["items"]
    assert found
    node = foreign.api(f"node?{query}&side=t&id={found[0]['id']}")
    assert node["partner"]["name"] == found[0]["name"]
    assert any("model.py" in frame for frame in node["stack"]["target"])
    inputs = [value for value in node["values"] if value["section"] == "input"]
    assert inputs[0]["target"]["shape"] == inputs[0]["golden"]["shape"]
    assert float(inputs[0]["target"]["Max"]) >= float(inputs[0]["target"]["Min"])
    assert inputs[0]["metrics"]


@pytest.mark.parametrize("file", [VIS, DB])
def test_a_collective_names_its_peers(foreign: Server, file: str) -> None:
    foreign.open(file)
    query = f"file={file}&u=0"
    (call,) = foreign.api(f"search?{query}&q=Distributed.all_reduce*forward&side=t")["items"]
    node = foreign.api(f"node?{query}&side=t&id={call['id']}")
    assert [(peer["rank"], peer["u"]) for peer in node["peers"]] == [("1", 1)]
