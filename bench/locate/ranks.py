#!/usr/bin/env python3
"""Faults between two ranks: ranks.py DIRECTORY   (both processes are started here, over gloo)

A layer of columns and a layer of rows, each cut over the ranks; the rows' results are summed by an
all_reduce. DIRECTORY/ranks/{golden,<number>}/{statistics,md5,tensor}/rank{0,1} and cases-ranks.json.
"""

import copy
import json
import os
import pathlib
import sys
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn

import record
import sites
import truth
from sites import Site, call, in_kernel
from faults import KERNEL_FAULTS, Fault

RANKS, WIDTH = 2, 16


class Parallel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.columns = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rows = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        h = call(self, "columns", self.columns, call(self, "norm", self.norm, x))
        h = call(self, "rows", self.rows, call(self, "Functional.relu", F.relu, h))
        call(self, "Distributed.all_reduce", dist.all_reduce, h)
        return call(self, "Torch.add", torch.add, x, h)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Parallel() for _ in range(3))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = call(self, f"layers.{i}", layer, x)
        return x


def plans() -> list[tuple[str, int, str, Site, Any]]:
    """(kind, rank that is altered or -1 for both, truth as "rank/site", plan)"""
    found: list[tuple[str, int, Site, Site, Any]] = []
    for layer in range(3):
        path = f"layers.{layer}"
        reduce = Site(path, "Distributed.all_reduce", 0)
        around = Site("", path, 0)
        found.append(("missing all-reduce", -1, around, reduce, lambda function, args, kwargs: None))
        found.append(("all-reduce by maximum", -1, reduce, reduce,
                      lambda function, args, kwargs: function(*args, op=dist.ReduceOp.MAX)))
        for rank in range(RANKS):
            for name in ("columns", "rows", "norm"):
                for kind in ("scale off by 1 %", "NaN in a kernel", "a tile is lost"):
                    site = Site(path, name, 0)
                    found.append((kind + " on one rank", rank, site, site, KERNEL_FAULTS[kind]))
    return found


def make_plan(kind: str, site: Site, alter: Any) -> Any:
    return in_kernel(site, alter) if kind.endswith("on one rank") else sites.AtSite(site, alter)


def work(rank: int, root: pathlib.Path, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), MSPROBE_STRICT="1")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.manual_seed(20 + rank)
    model = Model()
    torch.manual_seed(3)
    x = torch.randn(4, WIDTH)
    cases: list[dict] = []
    golden = run(root / "golden", rank, model, x, sites.Survey())
    for i, (kind, altered, right, site, alter) in enumerate(plans()):
        here = altered in (-1, rank)
        plan = make_plan(kind, site, alter) if here else sites.Survey()
        target = run(root / str(i), rank, model, x, plan)
        if rank != max(altered, 0):
            continue
        case: dict = {"model": "two ranks", "kind": kind, "where": str(site), "benign": False, "ranks": altered,
                      "target": f"ranks/{i}", "golden": "ranks/golden", "truth": {}}
        for mode, of in (("statistics", truth.statistics), ("md5", truth.sums), ("tensor", truth.sums)):
            names, shown = truth.truth_of(Fault(kind, str(site), [right], program=right != site), target, golden, of)
            case["truth"][mode] = {"names": sorted(names), "shown": shown}
        cases.append(case)
    (root / f"cases-{rank}.json").write_text(json.dumps(cases))
    dist.barrier()
    dist.destroy_process_group()


def run(place: pathlib.Path, rank: int, model: Any, x: torch.Tensor, plan: Any) -> Any:
    model = copy.deepcopy(model)
    sites.name_modules(model)
    own = place / f"by{rank}"
    with sites.active(plan), torch.no_grad():
        record.record(own, model, lambda: model(x), rank)
    unit = record.unit_of(own)
    records = truth.Records(unit)
    record.derive_modes(own)
    for mode in record.MODES:
        (place / mode).mkdir(parents=True, exist_ok=True)
        os.rename(own / mode, place / mode / f"rank{rank}")
    return records


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    mp.spawn(work, (root / "ranks", 29641), RANKS)
    cases = [case for rank in range(RANKS) for case in json.loads((root / "ranks" / f"cases-{rank}.json").read_text())]
    (root / "cases-ranks.json").write_text(json.dumps(cases, indent=1))
    print(f"two ranks: {len(cases)} pairs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
