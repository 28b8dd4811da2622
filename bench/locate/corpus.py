#!/usr/bin/env python3
"""Makes the corpus of faults and of benign pairs: corpus.py DIRECTORY [--faults N] [--benign N] [--seed N]

--held-out: other models too. --only MODEL: one model.

DIRECTORY/<model>/{golden*,<number>}/{statistics,md5,tensor} are dumps, DIRECTORY/cases.json lists the
pairs with what is right for each.
"""

import argparse
import copy
import json
import os
import pathlib
import sys
from typing import Any, Optional

import torch

import benign
import faults
import record
import sites
import truth
from models import MODELS, Whole, spread_weights
from models_held_out import HELD_OUT

ALL_MODELS = {**MODELS, **HELD_OUT}


class Maker:
    def __init__(self, root: pathlib.Path, name: str, seed: int) -> None:
        """`seed`: of the choice of faults; weights and data follow from it."""
        self.root, self.name, self.seed = root / name, name, seed
        torch.manual_seed(4 + seed)
        self.model = Whole(ALL_MODELS[name]())
        spread_weights(self.model)
        self.batch = self.model.net.batch()
        self.cases: list[dict] = []
        self.recorded: set[str] = set()

    def run(self, model: Any, plan: Any, seed: int, decode: bool) -> None:
        torch.manual_seed(seed)
        with sites.active(plan):
            if decode:
                model.eval()
                with torch.no_grad():
                    model.net.decode(self.batch)
                return
            loss = model.loss(self.batch)
            if isinstance(plan, sites.InBackward):
                plan.backward(loss)
            else:
                loss.backward()

    def fresh(self, change: Any = None) -> Any:
        model = copy.deepcopy(self.model)
        sites.name_modules(model)
        if change is not None:
            change(model)
        return model

    def survey(self, decode: bool) -> sites.Survey:
        survey = sites.Survey()
        self.run(self.fresh(), survey, 1, decode)
        return survey

    def record(self, place: str, fault: Optional[faults.Fault], decode: bool = False) -> Any:
        model = self.fresh(fault and fault.change)
        plan = fault.plan() if fault and fault.plan else sites.Survey()
        seed = fault.seed if fault else 1
        record.record(self.root / place, model, lambda: self.run(model, plan, seed, decode))
        records = truth.Records(record.unit_of(self.root / place))
        record.derive_modes(self.root / place)
        return records

    def faults(self, count: int) -> None:
        survey = self.survey(False)
        has_decode = hasattr(self.model.net, "decode")
        decode = self.survey(True) if has_decode else None
        golden = {False: self.record("golden", None)}
        if has_decode:
            golden[True] = self.record("golden-decode", None, True)
        for i, fault in enumerate(faults.all_faults(self.model, survey, decode, self.seed, count)):
            try:
                target = self.record(str(i), fault, fault.decode)
            except (IndexError, RuntimeError, TypeError, ValueError):
                continue  # the program stops: its traceback says where
            case: dict = {"model": self.name, "kind": fault.kind, "where": fault.where,
                          "target": f"{self.name}/{i}", "benign": False,
                          "golden": f"{self.name}/golden{'-decode' if fault.decode else ''}", "truth": {}}
            if not any(truth.differs(name, target, golden[fault.decode], truth.sums) for name in target.data):
                continue  # the fault changed nothing: the gradient kernel of a view, say
            for mode, of in (("statistics", truth.statistics), ("md5", truth.sums), ("tensor", truth.sums)):
                names, shown = truth.truth_of(fault, target, golden[fault.decode], of)
                case["truth"][mode] = {"names": sorted(names), "shown": shown}
            self.cases.append(case)

    def benign(self, count: int) -> None:
        for pair in benign.pairs(self.name, count):
            golden = self.record_setting(pair.seed, pair.golden, "")
            target = self.record_setting(pair.seed, pair.target, "-again" if pair.same_bits else "")
            self.cases.append({"model": self.name, "kind": pair.kind, "where": f"seed {pair.seed}", "benign": True,
                               "golden": golden, "target": target, "same_bits": pair.same_bits})

    def record_setting(self, seed: int, setting: Any, suffix: str) -> str:
        """A run with weights and data of that seed; what several pairs have in common is run once."""
        place = f"benign-{seed}-{setting.__name__}{suffix}"
        if place not in self.recorded:
            self.recorded.add(place)
            torch.manual_seed(97 + self.seed + seed)
            model = Whole(ALL_MODELS[self.name]())
            spread_weights(model)
            batch = model.net.batch()
            with setting(model) as run:
                sites.name_modules(model)
                record.record(self.root / place, model, lambda: run(model, batch))
            record.derive_modes(self.root / place)
        return f"{self.name}/{place}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=100, help="for each model, at most")
    parser.add_argument("--benign", type=int, default=50, help="for each model")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--held-out", action="store_true", help="also models that the rules were not made on")
    parser.add_argument("--only", choices=ALL_MODELS)
    arguments = parser.parse_args()
    os.environ.setdefault("MSPROBE_STRICT", "1")
    torch.set_num_threads(1)
    cases = []
    for name in [arguments.only] if arguments.only else ALL_MODELS if arguments.held_out else MODELS:
        maker = Maker(arguments.directory, name, arguments.seed)
        maker.faults(arguments.faults)
        maker.benign(arguments.benign)
        cases += maker.cases
        print(f"{name}: {len(maker.cases)} pairs", file=sys.stderr)
    (arguments.directory / "cases.json").write_text(json.dumps(cases, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
