"""Our .vis against what another tool made of the same dump (peer.json).

Every difference must be listed in case.toml with the reason:
  [[difference]]
  side = "npu"              # or "bench", "both"
  nodes = ["name", …]
  fields = ["index", …]     # "missing": only the peer has the node, "extra": only we have it
  why = "…"
A listed difference that does not exist is an error as well.
"""
import math
import re

from projection import load_vis, vis_sides


def _ours(node: dict) -> dict:
    link = node["link"]
    return {"type": node["type"], "up": node["up"], "sub": node["sub"],
            "matched": link[-1] if link else None, "index": node["index"],
            "overflow": node["overflow"] or None, "micro_step": node["micro_step"],
            "stack_lines": len(node["stack"])}


def _equal(field, ours, peer) -> bool:
    if field == "index" and ours is not None and peer is not None:
        # Worst is written as 0.999999, so that the viewer's filter [lo, hi) finds it.
        ours = 1 if ours == 0.999999 else ours
        return math.isclose(ours, peer, rel_tol=1e-9, abs_tol=1e-12)
    return ours == peer


class _Listed:
    def __init__(self, differences):
        self.entries = {}
        for difference in differences:
            if not difference.get("why"):
                raise ValueError("a [[difference]] without why")
            side = difference.get("side", "both")
            for one in ("npu", "bench") if side == "both" else (side,):
                for name in difference["nodes"]:
                    for field in difference["fields"]:
                        self.entries[one, name, field] = [side, 0]

    def covers(self, side, name, field) -> bool:
        entry = self.entries.get((side, name, field))
        if entry:
            entry[1] += 1
        return entry is not None

    def unused(self):
        both_used = {(name, field) for (_, name, field), (side, used) in self.entries.items()
                     if side == "both" and used}
        for (side, name, field), (given, used) in self.entries.items():
            if not used and not (given == "both" and (name, field) in both_used):
                yield f"listed difference does not exist: {side} {name} {field}"


def _compare_side(where, side, ours, peer, listed):
    for name in peer:
        if name not in ours and not listed.covers(side, name, "missing"):
            yield f"{where}: {name} is missing"
    for name, node in ours.items():
        if name not in peer:
            if not listed.covers(side, name, "extra"):
                yield f"{where}: {name} is not in the peer's graph"
            continue
        mine = _ours(node)
        for field, value in mine.items():
            expected = peer[name].get(field)
            if field == "micro_step" and expected is None:
                continue  # the peer writes it on few nodes, we on all
            if not _equal(field, value, expected) and not listed.covers(side, name, field):
                yield f"{where}: {name}: {field} is {value!r}, the peer has {expected!r}"


def compare_with_peer(files, peer: dict, differences) -> list:
    """`files`: the written .vis files."""
    listed = _Listed(differences)
    by_name = {re.sub(r"_\d{14}", "", path.name): path for path in files}
    problems = []
    for name, expected in peer.items():
        if name not in by_name:
            problems.append(f"{name} was not written")
            continue
        document = load_vis(by_name[name])
        for key, mine in (("task", document.get("task")),
                          ("MicroSteps", document.get("MicroSteps"))):
            if expected[key] is not None and mine != expected[key]:
                problems.append(f"{name}: {key} is {mine!r}, the peer has {expected[key]!r}")
        for side, nodes in vis_sides(document).items():
            problems += _compare_side(f"{name} {side}", side, nodes, expected[side], listed)
    return problems + list(listed.unused())
