"""Which records of a dump are the right answer for a fault.

The altered call itself: the record of the op that a fault was put into, or of the module whose weights
or settings were changed (a module of one single op: that op is as right). Where the alteration lies
between two records (an op is left out, a cache is stale), the answer is the nearest record around it,
which is the module in whose program the mistake is. Where nothing that is recorded of the altered call
differs, it is the first record whose inputs are the same and whose outputs are not.
"""

import json
import pathlib
from typing import Any

from sites import Site


class Records:
    def __init__(self, unit: pathlib.Path) -> None:
        self.data: dict[str, Any] = json.loads((unit / "dump.json").read_text())["data"]
        parents = json.loads((unit / "construct.json").read_text())
        self.parents = {name: value[0] if isinstance(value, list) else value for name, value in parents.items()}
        self.children: dict[Any, list[str]] = {}
        for name, parent in self.parents.items():
            self.children.setdefault(parent, []).append(name)

    def module(self, path: str, call: int) -> str:
        """The record of the `call`-th run of the module at `path`."""
        for name in self.parents:
            head, _, tail = name.partition(f"Module.{path}.")
            if not head and tail.endswith(f".forward.{call}") and tail.count(".") == 2:
                return name
        raise LookupError(f"no record of {path}, call {call}")

    def calls(self, path: str) -> list[Any]:
        """All forward records of a module, or the place of what lies in no module."""
        if not path:
            return [None]
        names = []
        try:
            while True:
                names.append(self.module(path, len(names)))
        except LookupError:
            return names

    def of(self, site: Site) -> set[str]:
        if "." in site.name and site.name[0].isupper():
            found = [name for call in self.calls(site.path) for name in self.children.get(call, [])
                     if name.startswith(site.name + ".") and ".forward" in name]
            return {found[site.occurrence]}
        module = self.module(f"{site.path}.{site.name}".strip("."), site.occurrence)
        below = [name for name in self.children.get(module, []) if not name.startswith("Module.")]
        return {module, *below} if len(below) == 1 else {module}


def sums(values: Any) -> list[str]:
    """The checksums of all tensors below a part of a record, in their order."""
    if isinstance(values, dict):
        if "md5" in values:
            return [values["md5"]]
        return [text for value in values.values() for text in sums(value)]
    if isinstance(values, list):
        return [text for value in values for text in sums(value)]
    return []


def statistics(values: Any) -> list[Any]:
    """The same of what a dump without checksums says."""
    if isinstance(values, dict):
        if "Norm" in values:
            return [[values.get(key) for key in ("Max", "Min", "Mean", "Norm", "dtype", "shape")]]
        return [item for value in values.values() for item in statistics(value)]
    if isinstance(values, list):
        return [item for value in values for item in statistics(value)]
    return []


def parts(record: dict, of: Any) -> tuple[list, list]:
    """What goes in (parameters too), and what comes out."""
    inside, outside = [], []
    for key, value in record.items():
        (outside if key in ("output", "output_args") or key.endswith("_grad") else inside).extend(of(value))
    return inside, outside


def differs(name: str, target: Records, golden: Records, of: Any) -> bool:
    if name not in golden.data or name not in target.data:
        return True
    return repr(of(target.data[name])) != repr(of(golden.data[name]))


def nearest(target: Records, golden: Records, of: Any) -> set[str]:
    """The first record with equal inputs and other outputs, the innermost of those that begin together."""
    for name, record in target.data.items():
        if name not in golden.data:
            continue
        inside, outside = parts(record, of)
        inside_golden, outside_golden = parts(golden.data[name], of)
        if repr(inside) == repr(inside_golden) and repr(outside) != repr(outside_golden):
            return {name}
    return set()


def truth_of(sites: list[Site], backward: bool, target: Records, golden: Records, of: Any) -> tuple[set[str], bool]:
    """The right answers, and whether the record of the altered call shows anything of the fault."""
    names: set[str] = set()
    for site in sites:
        names |= target.of(site)
    if backward:
        names = {name.replace(".forward", ".backward") for name in names}
        names = {name for name in names if name in target.data or name in target.parents}
    if any(differs(name, target, golden, of) for name in names):
        return names, True
    return nearest(target, golden, of), False
