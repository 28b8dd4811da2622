"""A .vis or .vis.db as text that a person can review and a diff can show."""
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree


def _reject_constant(text):
    raise ValueError(f"{text} is no JSON number: a browser cannot read this file")


def load_vis(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=_reject_constant)


def _value_lines(data: dict):
    for key, value in data.items():
        if not isinstance(value, dict):
            yield f"      {key} = {value}"
            continue
        fields = " ".join(f"{name}={text}" for name, text in value.items()
                          if text not in ("", None))
        yield f"      {key}: {fields}"


def _node_line(depth, node) -> str:
    parts = [("  " * depth) + node["name"], f"type={node['type']}"]
    if node["index"] is not None:
        parts.append(f"index={node['index']!r}")
    if node["overflow"]:
        parts.append(f"overflow={node['overflow']}")
    parts.append(f"micro_step={node['micro_step']}")
    if node["link"]:
        parts.append("matched" if node["link"][-1] == node["name"] else f"-> {node['link'][-1]}")
    parts.append(f"stack={len(node['stack'])}")
    if node["distributed"]:
        parts.append("distributed=" + json.dumps(node["distributed"], sort_keys=True))
    for key, text in sorted((node.get("own") or {}).items()):
        if text in ("", None, "none") or (key in ("idx", "index", "worst_below") and
                                          text == node["index"]):
            continue
        parts.append(f"{key}={text}")
    return "  ".join(parts)


def _side_lines(nodes: dict, root: str, shown):
    """Depth first; nodes that no parent names come at the end and say so."""
    seen = set()

    def walk(name, depth):
        if name in seen or name not in nodes:
            yield "  " * depth + name + ("  AGAIN" if name in seen else "  MISSING")
            return
        seen.add(name)
        node = nodes[name]
        yield _node_line(depth, node)
        if shown == "all" or name in shown:
            yield from _value_lines(node["inputs"])
            yield from _value_lines(node["outputs"])
            for line in node["stack"]:
                yield "      stack " + json.dumps(line)
        for child in node["sub"]:
            if nodes.get(child, {}).get("up") != name:
                yield "  " * (depth + 1) + child + "  HAS ANOTHER PARENT"
            yield from walk(child, depth + 1)

    yield from walk(root, 0)
    for name in nodes:
        if name not in seen:
            yield name + "  UNREACHABLE"


def _vis_node(node: dict) -> dict:
    data = node.get("data") or {}
    return {"name": node["id"], "type": node["node_type"], "up": node["upnode"],
            "sub": node["subnodes"], "link": node["matched_node_link"],
            "index": data.get("precision_index"), "overflow": data.get("overflow_level"),
            "micro_step": node["micro_step_id"], "stack": node["stack_info"],
            "distributed": node.get("matched_distributed"), "own": node.get("msprobe"),
            "inputs": node["input_data"], "outputs": node["output_data"]}


def vis_sides(document: dict) -> dict:
    """{"npu": {name: node}, "bench": …}; a single graph has "npu" only."""
    graphs = {"npu": document["NPU"], "bench": document["Bench"]} if "NPU" in document else {
        "npu": document}
    return {side: {name: _vis_node(node) for name, node in graph["node"].items()}
            for side, graph in graphs.items()}


def project_vis(path: Path, shown) -> str:
    document = load_vis(path)
    head = {key: value for key, value in document.items()
            if key in ("task", "MicroSteps", "OverflowCheck")}
    head["Colors"] = {color: entry["value"] for color, entry in document.get("Colors", {}).items()}
    lines = [json.dumps(head, sort_keys=True, ensure_ascii=False)]
    for side, nodes in vis_sides(document).items():
        graph = {"npu": document.get("NPU", document), "bench": document.get("Bench")}[side]
        lines += ["", f"== {side}"]
        lines += _side_lines(nodes, graph["root"], shown)
    return "\n".join(lines) + "\n"


def _loads(text, default):
    return json.loads(text, parse_constant=_reject_constant) if text else default


def project_db(path: Path, shown) -> str:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        config = dict(database.execute("select * from tb_config").fetchone())
        config.pop("tool_tip", None)
        config["node_colors"] = {
            color: entry["value"] for color, entry in _loads(config["node_colors"], {}).items()}
        lines = [json.dumps(config, sort_keys=True, ensure_ascii=False)]
        own = {row["id"]: dict(row) for row in database.execute("select * from msprobe_nodes")}
        stacks = {row["id"]: json.loads(row["stack_info"] or "[]")
                  for row in database.execute("select * from tb_stack")}
        groups = database.execute("select distinct step, rank, data_source from tb_nodes "
                                  "order by step, rank, data_source desc").fetchall()
        for step, rank, source in groups:
            nodes = {}
            rows = database.execute(
                "select * from tb_nodes where step=? and rank=? and data_source=? "
                "order by node_order", (step, rank, source))
            for row in rows:
                extra = {key: value for key, value in own.get(row["id"], {}).items()
                         if key != "id"}
                nodes[row["node_name"]] = {
                    "name": row["node_name"], "type": row["node_type"], "up": row["up_node"],
                    "sub": _loads(row["sub_nodes"], []),
                    "link": _loads(row["matched_node_link"], []),
                    "index": row["precision_index"], "overflow": row["overflow_level"],
                    "micro_step": row["micro_step_id"], "stack": stacks[row["stack_id"]],
                    "distributed": _loads(row["matched_distributed"], None), "own": extra,
                    "inputs": _loads(row["input_data"], {}),
                    "outputs": _loads(row["output_data"], {})}
            lines += ["", f"== step {step} rank {rank} {source}"]
            root = next((name for name, node in nodes.items() if not node["up"]), "")
            lines += _side_lines(nodes, root, shown)
    return "\n".join(lines) + "\n"


def project_xlsx(path: Path) -> str:
    """A workbook: each sheet as lines "cell: text" with the type where it is not a number."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    lines = []
    with zipfile.ZipFile(path) as book:
        workbook = ElementTree.fromstring(book.read("xl/workbook.xml"))
        names = [sheet.get("name") for sheet in workbook.iter(f"{space}sheet")]
        sheets = sorted((n for n in book.namelist() if n.startswith("xl/worksheets/sheet")),
                        key=lambda n: int(re.search(r"\d+", n).group()))
        for name, part in zip(names, sheets):
            lines.append(f"sheet {name}")
            for cell in ElementTree.fromstring(book.read(part)).iter(f"{space}c"):
                kind = cell.get("t", "n")
                text = "".join(cell.itertext())
                lines.append(f"  {cell.get('r')}: {text}" if kind == "n"
                             else f"  {cell.get('r')} {kind}: {text}")
    return "\n".join(lines) + "\n"
