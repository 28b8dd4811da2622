"""Which records of a dump are the right answer for a fault.

The altered call itself: the record of the op that a fault was put into, or of the module whose weights
or settings were changed (or the op in it, if it contains no modules); calls that only the altered
program makes in that place belong to it. Where the alteration lies between two records (an op is left
out, a cache is stale), the answer is the module in whose program the mistake is, or inside it the first
record whose inputs are the same and whose outputs are not. Where the records of the altered call do
not differ (statistics of a tensor whose elements changed places), it is that record wherever it is.
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
        below = self.children.get(module, [])
        return {module} if any(name.startswith("Module.") for name in below) else {module, *below}

    def place(self, site: Site) -> Any:
        """The record of the module in which a site lies; None outside of all."""
        if "." in site.name and site.name[0].isupper():
            return self.parents[next(iter(self.of(site)))]
        return self.module(f"{site.path}.{site.name}".strip("."), site.occurrence)

    def below(self, name: str, outer: Any) -> bool:
        while name is not None and name != outer:
            name = self.parents.get(name)
        return name == outer


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
            numbers = [values.get(key) for key in ("Max", "Min", "Mean", "Norm")]
            # Sums of the same elements in another order differ in the last digits.
            shown = [f"{number:.6g}" if isinstance(number, float) else number for number in numbers]
            return [[*shown, values.get("dtype"), values.get("shape")]]
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


def nearest(target: Records, golden: Records, of: Any, inside: Any = None) -> set[str]:
    """The first record (inside `inside`) with equal inputs and other outputs."""
    for name, record in target.data.items():
        if name not in golden.data or not target.below(name, inside):
            continue
        taken, made = parts(record, of)
        taken_golden, made_golden = parts(golden.data[name], of)
        if repr(taken) == repr(taken_golden) and repr(made) != repr(made_golden):
            return {name}
    return set()


def truth_of(fault: Any, target: Records, golden: Records, of: Any) -> tuple[set[str], bool]:
    """The right answers, and whether the records of the altered call show anything of the fault."""
    names: set[str] = set()
    for site in fault.truth:
        names |= target.of(site)
    if fault.backward:
        names = {name.replace(".forward", ".backward") for name in names}
        names = {name for name in names if name in target.data or name in target.parents}
    shown = any(differs(name, target, golden, of) for name in names)
    if fault.program:
        place = target.place(fault.truth[0])
        names |= {name for name in target.children.get(place, [])
                  if name not in golden.data and ".forward" in name and not name.startswith("Module.")}
        names |= nearest(target, golden, of, place)
    return (names, True) if shown else (nearest(target, golden, of), False)
