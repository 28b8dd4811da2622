#!/usr/bin/env python3
"""Automatic matching: how many of the known pairs it finds, how many are wrong, and what it costs.

usage: bench_match.py [--record]   (records the pairs anew with the collector before judging them)
The recorded pairs lie in tests/golden/match_pairs; how they were made: record_match_pairs.py.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import match_judge
import measure
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = pathlib.Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))
ARCHIVES = ROOT / "tests" / "golden" / "match_pairs"
UNRELATED = "gpt2_against_llama"
LAYERS = 1400  # about 100,000 nodes a side


def quality(scratch: pathlib.Path) -> str:
    rows, total = [], match_judge.Verdict()
    for archive in sorted(ARCHIVES.glob("*.tar.xz")):
        name = archive.name.split(".")[0]
        verdict = match_judge.judge_archive(archive, scratch, CLI)
        found = "not one model" if name == UNRELATED else f"{verdict.found} of {verdict.known}"
        groups = f"{verdict.groups_found} of {verdict.groups}" if verdict.groups and name != UNRELATED else ""
        rows.append([name.replace("_", " "), found, groups, str(len(verdict.wrong)), str(verdict.unjudged)])
        if name == UNRELATED:
            verdict.known = verdict.found = verdict.groups = verdict.groups_found = 0
        total.add(verdict)
    rows.append(["**all** (to reach: ≥ 95 % matched, 0 wrong)",
                 f"**{100 * total.found / total.known:.1f} %** ({total.found} of {total.known})",
                 f"{total.groups_found} of {total.groups}", f"**{len(total.wrong)}**", str(total.unjudged)])
    return report.table(["auto matching on HF-style against Megatron-style toy models", "known pairs found",
                         "fused projections found", "wrong pairs", "pairs nobody knows about"], rows)


def deep(case: pathlib.Path, side: str, out: pathlib.Path) -> int:
    """The first layer of a recording, LAYERS times, the number in its path counted up."""
    dump = json.loads((case / side / "dump.json").read_text())
    construct = json.loads((case / side / "construct.json").read_text())
    data, parents, names = {}, {}, {}
    whole = [name for name in dump["data"] if "forward" in name]
    layer = [name for name in construct if "forward" in name and ".layers.0." in chain(construct, name)]
    for number in range(LAYERS):
        for name in layer:
            new = name.replace(".layers.0.", f".layers.{number}.")
            if not name.startswith("Module."):
                prefix, api, call, direction = name.rsplit(".", 3)
                new = f"{prefix}.{api}.{int(call) + number * 1000}.{direction}"
            names[name, number] = new
            parent = construct[name]
            parents[new] = names.get((parent, number))
            if name in whole:
                data[new] = dump["data"][name]
    out.mkdir(parents=True)
    (out / "dump.json").write_text(json.dumps({**dump, "data": data}))
    (out / "construct.json").write_text(json.dumps(parents))
    (out / "stack.json").write_text("{}")
    return len(parents)


def chain(construct: dict, name: str) -> str:
    """The node and all nodes around it, as one text."""
    names = []
    while name is not None:
        names.append(name)
        name = construct.get(name)
    return " ".join(names)


def cost(scratch: pathlib.Path) -> str:
    case = match_judge.unpack(ARCHIVES / "llama_other_weights.tar.xz", scratch / "deep")
    nodes = [deep(case, side, scratch / side) for side in ("target", "golden")]
    rows = []
    for mode in ("strict", "auto"):
        runs = [measure.run([str(CLI), "graph", str(scratch / "target"), str(scratch / "golden"), "-o",
                             str(scratch / f"out_{mode}_{k}"), "--match", mode]) for k in range(3)]
        wall = sorted(run.wall for run in runs)[1]
        rows.append([f"--match {mode}", report.seconds(wall), report.megabytes(max(run.rss_anon for run in runs))])
    title = f"compare {nodes[0]:,} with {nodes[1]:,} nodes, {LAYERS} equal layers in a row"
    return report.table([title, "time", "memory"], rows)


def main() -> None:
    if "--record" in sys.argv:
        subprocess.run([sys.executable, str(ROOT / "bench" / "record_match_pairs.py"), str(ARCHIVES)], check=True)
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        body = "\n\n".join([
            quality(scratch), cost(scratch),
            "Known pairs: nodes that are the same by construction (bench/match_models.py). Pairs nobody knows "
            "about are judged by their numbers where both sides have the same weights; the others are counted "
            "in the last column."])
    report.write_section("match", "Automatic matching", body)


if __name__ == "__main__":
    main()
