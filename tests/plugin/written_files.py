"""Reads a .vis or .vis.db without the plugin: what its answers are compared with."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugin_client import strict_json


@dataclass(frozen=True)
class Node:
    name: str
    parent: str
    children: list[str]
    index: float | None  # as the plugin reads it
    worst: bool  # by our own verdict
    partner: str | None
    overflow: str | None
    inputs: dict[str, dict[str, Any]]
    outputs: dict[str, dict[str, Any]]

    @property
    def is_leaf(self) -> bool:
        return not self.children


def nodes_of(path: Path, side: str, rank: int = 0, step: int = 0) -> dict[str, Node]:
    """The nodes of "NPU", "Bench" or "Single" by name, in file order."""
    if path.suffix == ".db":
        return _nodes_of_db(path, "Bench" if side == "Bench" else "NPU", rank, step)
    content = strict_json(path.read_text(encoding="utf-8"))
    graph = content if side == "Single" else content[side]
    return {name: _node_of_json(node) for name, node in graph["node"].items()}


def _node_of_json(node: dict[str, Any]) -> Node:
    return Node(
        name=node["id"],
        parent=node["upnode"],
        children=node["subnodes"],
        index=node["data"].get("precision_index"),
        worst=node.get("msprobe", {}).get("index") == 1,
        partner=(node["matched_node_link"] or [None])[-1],
        overflow=node["data"].get("overflow_level"),
        inputs=node["input_data"],
        outputs=node["output_data"],
    )


_QUERY = """
SELECT n.*, m.idx, m.status FROM tb_nodes n LEFT JOIN msprobe_nodes m ON m.id = n.id
WHERE data_source = ? AND rank = ? AND step = ? ORDER BY node_order
"""


def _nodes_of_db(path: Path, side: str, rank: int, step: int) -> dict[str, Node]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(_QUERY, (side, rank, step)).fetchall()
    return {row["node_name"]: _node_of_row(row) for row in rows}


def _node_of_row(row: sqlite3.Row) -> Node:
    return Node(
        name=row["node_name"],
        parent=row["up_node"] or "None",
        children=json.loads(row["sub_nodes"] or "[]"),
        index=row["precision_index"],
        worst=row["status"] == "error",
        partner=(strict_json(row["matched_node_link"]) or [None])[-1],
        overflow=row["overflow_level"],
        inputs=strict_json(row["input_data"]),
        outputs=strict_json(row["output_data"]),
    )
