"""Judges pairs of nodes against what is known to be the same on both sides (truth.json)."""

import dataclasses
import json
import pathlib
import subprocess
import tarfile


@dataclasses.dataclass
class Verdict:
    """Counts of target nodes; `unjudged`: pairs of nodes that the truth says nothing about."""

    known: int = 0
    found: int = 0
    unjudged: int = 0
    groups: int = 0
    groups_found: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)
    missed: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def _numbers(record: dict) -> list | None:
    """Of the first output that has any."""
    for value in record.get("output") or []:
        if isinstance(value, dict) and isinstance(value.get("Norm"), (int, float)):
            return [value["Max"], value["Min"], value["Norm"]]
    return None


def _same_numbers(one: list, other: list) -> bool:
    return all(abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-3) for a, b in zip(one, other))


def judge(case: pathlib.Path, pairs: dict[str, str], fused: dict[str, str], same_weights: bool) -> Verdict:
    """`pairs`: golden node by target node; `fused`: reason by node of either side that is in a group.

    Pairs that the truth does not know are judged by their numbers where both sides have the same
    weights: equal nodes have equal outputs.
    """
    truth = json.loads((case / "truth.json").read_text())
    target, golden = (json.loads((case / side / "dump.json").read_text())["data"] for side in ("target", "golden"))
    partner = {one: other for one, other in truth["pairs"]}
    backward = {other: one for one, other in partner.items()}
    verdict = Verdict(known=len(partner), groups=len(truth["groups"]))
    for one, other in pairs.items():
        if one in partner or other in backward:
            if partner.get(one) == other:
                verdict.found += 1
            else:
                verdict.wrong.append(f"{one} = {other}, not {partner.get(one)} / {backward.get(other)}")
            continue
        numbers = [_numbers(data.get(node, {})) for data, node in ((target, one), (golden, other))]
        if not same_weights or None in numbers or "forward" not in one:
            verdict.unjudged += 1
        elif not _same_numbers(*numbers):
            verdict.wrong.append(f"{one} = {other}: other numbers")
    verdict.missed = [f"{one} = {other}" for one, other in partner.items() if one not in pairs]
    for targets, goldens in truth["groups"]:
        verdict.groups_found += all("fused" in fused.get(node, "") for node in targets + goldens)
        for node in targets:
            if node in pairs:
                verdict.wrong.append(f"{node} = {pairs[node]}: it is part of a group")
    return verdict


def unpack(archive: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """Unpacks a recorded pair; returns where target/, golden/ and truth.json lie."""
    case = directory / archive.name.split(".")[0]
    with tarfile.open(archive) as members:
        members.extractall(case)
    return case


def pairs_of(vis: pathlib.Path) -> tuple[dict[str, str], dict[str, str]]:
    """Golden node by target node, and the reasons of what is unmatched on either side."""
    graphs = json.loads(vis.read_text())
    pairs, reasons = {}, {}
    for side in ("NPU", "Bench"):
        for name, node in graphs[side]["node"].items():
            if not node["matched_node_link"]:
                reasons[name] = node["msprobe"]["reason"]
            elif side == "NPU" and name != graphs[side]["root"]:
                pairs[name] = node["matched_node_link"][-1]
    return pairs, reasons


def judge_archive(archive: pathlib.Path, directory: pathlib.Path, program: pathlib.Path) -> Verdict:
    """Compares the two recordings with `program` and judges its pairs."""
    case = unpack(archive, directory)
    subprocess.run([program, "graph", case / "target", case / "golden", "-o", case / "out", "--match", "auto"],
                   check=True, capture_output=True)
    [vis] = (case / "out").glob("*.vis")
    pairs, reasons = pairs_of(vis)
    same_weights = not any(word in case.name for word in ("other", "fewer", "against"))
    return judge(case, pairs, reasons, same_weights)
