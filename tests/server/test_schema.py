"""What the API answers is what schema/viewer.schema.json says."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from conftest import ROOT, Server

sys.path.insert(0, str(ROOT / "tests" / "golden"))
from schema_check import definition_problems  # noqa: E402


def check(answer: Any, definition: str) -> Any:
    assert definition_problems(answer, "viewer", definition) == []
    return answer


@pytest.fixture(scope="module")
def unit(server: Server) -> str:
    (entry,) = check(server.api("files"), "files")["files"]
    check(server.open(entry["file"]), "open")
    return f"file={entry['file']}&u=0"


def test_rows_and_paths(server: Server, unit: str) -> None:
    rows = check(server.api(f"rows?{unit}&t=0&g=0"), "rows")["rows"]
    for side in "tg":
        check(rows[0][side], "brief")
    check(server.api(f"path?{unit}&side=t&id=2"), "path")
    check(server.api(f"path?{unit}&side=t&id=2&page=100"), "path")
    check(server.api(f"inside?{unit}&of=0.0,1.1"), "inside")


@pytest.mark.parametrize(
    "query", ["by=band&value=4", "by=status&value=error", "by=unmatched&side=g", "by=suspicious"]
)
def test_lists(server: Server, unit: str, query: str) -> None:
    check(server.api(f"list?{unit}&{query}"), "list")


def test_search_and_seek(server: Server, unit: str) -> None:
    assert check(server.api(f"search?{unit}&q=net&side=b"), "list")["total"] > 1
    found = check(server.api(f"seek?{unit}&side=t&id=0&dir=1&by=suspicious"), "seek")
    check(found["item"], "item")
    found = check(server.api(f"seek?{unit}&side=t&id=0&dir=1&by=suspicious&path=1&page=9"), "seek")
    assert found["path"]["id"] == found["item"]["id"]


def test_nodes(server: Server, unit: str) -> None:
    for identity in range(5):
        node = check(server.api(f"node?{unit}&side=t&id={identity}"), "node")
        for value in node["values"]:
            check(value["target"], "recorded")
            check(value["golden"], "recorded")


def test_sums(server: Server, unit: str) -> None:
    check(server.api(f"overview?{unit}&bins=10"), "overview")
    check(server.api(f"divergence?{unit}"), "divergence")
    check(server.api(f"matches?{unit}"), "matches")


def test_errors(server: Server) -> None:
    for target in ("nothing", "rows?file=none.vis&u=0&t=0&g=0", "open?file=../x", "list"):
        status, _, body = server.ask(f"/api/{target}")
        assert status >= 400
        check(json.loads(body), "error")


def test_the_check_can_fail(server: Server, unit: str) -> None:
    answer = server.api(f"overview?{unit}&bins=10")
    answer["bins"][0]["worst"] = 2
    assert definition_problems(answer, "viewer", "overview") != []
