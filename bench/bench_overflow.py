#!/usr/bin/env python3
"""First overflow over many ranks: 256 ranks of 20,000 nodes each, one of them computes a NaN.

usage: bench_overflow.py [RANKS] [NODES]
Dumps are written into $MSPROBE_BENCH_DIR once and kept until the end of the run.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

import measure
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLI = os.environ.get("MSPROBE_CLI", str(ROOT / "build" / "bin" / "msprobe"))
DATA = pathlib.Path(os.environ.get("MSPROBE_BENCH_DIR", "/tmp/msprobe-bench"))
BLOCK = 100  # nodes between two collectives


def tensor(value: float) -> dict:
    return {"type": "torch.Tensor", "dtype": "torch.bfloat16", "shape": [4096, 1, 8192], "Max": value, "Min": -value,
            "Mean": value / 7, "Norm": value * 13, "requires_grad": True}


def record(value_in: float, value_out: float, ranks: int = 0) -> str:
    entry = {"input_args": [tensor(value_in), tensor(0.5), tensor(0.25)], "input_kwargs": {},
             "output": [tensor(value_out)]}
    if ranks:
        entry["input_kwargs"]["group"] = {"type": "torch.ProcessGroup", "group_ranks": list(range(ranks)),
                                          "group_id": "world"}
    return json.dumps(entry)


def write_rank(directory: pathlib.Path, rank: int, ranks: int, nodes: int, texts: dict) -> None:
    """Blocks of a module with APIs and an all_reduce; rank 77's block in the middle makes a NaN."""
    directory.mkdir(parents=True)
    middle = nodes // BLOCK // 2
    source = ranks * 3 // 10
    data, construct = [], []

    def add(name, parent, kind):
        data.append(f'"{name}": {texts[kind]}')
        construct.append(f'"{name}": {json.dumps(parent)}')

    for block in range(nodes // BLOCK):
        module = f"Module.layers.{block}.Block.forward.0"
        infected = block > middle
        for call in range(BLOCK - 2):
            mine = block == middle and rank == source
            kind = "bad" if infected or mine and call > 50 else "first" if mine and call == 50 else "good"
            add(f"Torch.mul.{block * BLOCK + call}.forward", module, kind)
        sends = infected or block == middle and rank == source
        add(f"Distributed.all_reduce.{block}.forward", module,
            "sent" if sends else "received" if block == middle else "reduced")
        add(module, None, "bad" if sends else "first" if block == middle else "good")
    head = '{"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": null, "data": {\n'
    (directory / "dump.json").write_text(head + ",\n".join(data) + "}}\n")
    (directory / "construct.json").write_text("{" + ",\n".join(construct) + "}\n")
    (directory / "stack.json").write_text("{}\n")


def main() -> None:
    ranks, nodes = (int(argument) for argument in (sys.argv[1:] + ["256", "20000"][len(sys.argv) - 1:])[:2])
    nan = float("nan")
    texts = {"good": record(1.5, 2.5), "first": record(1.5, nan), "bad": record(nan, nan),
             "reduced": record(1.5, 2.5, ranks), "received": record(1.5, nan, ranks), "sent": record(nan, nan, ranks)}
    DATA.mkdir(parents=True, exist_ok=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="overflow_", dir=DATA))
    try:
        for rank in range(ranks):
            write_rank(directory / f"rank{rank}", rank, ranks, nodes, texts)
        size = sum(file.stat().st_size for file in directory.rglob("*.json"))
        runs = [measure.run([CLI, "overflow", str(directory), "--json"]) for _ in range(3)]
        wall = sorted(run.wall for run in runs)[1]
        found = json.loads(runs[0].output[runs[0].output.index("{"):runs[0].output.rindex("}") + 1])
        first = found["first"]
        body = report.table(
            ["case", "time", "CPU", "memory", "to reach"],
            [[f"`overflow`, {ranks} ranks × {nodes:,} nodes ({size / 2**30:.1f} GiB of json)", report.seconds(wall),
              report.seconds(runs[0].cpu), report.megabytes(max(run.rss_anon for run in runs)),
              "≤ 60 s on 2 cores, memory bounded by ranks in flight"]])
        body += (f"\n\nFound: rank {first['rank']}, `{first['name']}`, which reaches {first['reached_ranks']} other "
                 f"ranks; {size / wall / 2**20:.0f} MiB of json a second.")
        report.write_section("overflow", "First overflow over many ranks", body)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
