#!/usr/bin/env python3
"""Large synthetic dump pairs, written as text: fast, and small enough to read.

usage: large_dump.py OUT layers|wide|deep COUNT
OUT/npu and OUT/bench get dump.json, stack.json and construct.json. `layers`: transformer layers of
12 nodes, COUNT nodes in all; `wide`: one module with COUNT calls; `deep`: COUNT modules one in the
other. Every 97th node of npu is off, every 211th is missing on the other side.
"""

import io
import pathlib
import sys

CALLS = ("linear", "matmul", "softmax", "dropout", "add", "view")
STACK = '"File /home/user/model/layer.py, line %d, in forward, \\n hidden = self.op(hidden)"'


class Side:
    """The three files of one side, while they are written."""

    def __init__(self, directory: pathlib.Path, is_target: bool):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.is_target = is_target
        self.data, self.construct, self.stack = io.StringIO(), io.StringIO(), io.StringIO()
        self.count = 0

    def tensor(self, off: bool) -> str:
        value = 1 + self.count % 89 / 13
        if off and self.is_target:
            value *= 3
        return (f'{{"type":"torch.Tensor","dtype":"torch.bfloat16","shape":[4096,1,{64 + self.count % 7}],'
                f'"Max":{value},"Min":{-value},"Mean":{value / 1000},"Norm":{value * 9},"requires_grad":true}}')

    def add(self, name: str, parent: str | None) -> str:
        self.count += 1
        if self.count % 211 == 0 and not self.is_target and ".forward" == name[-8:]:
            return name
        comma = ",\n" if self.data.tell() else ""
        good = self.tensor(False)
        self.data.write(f'{comma}"{name}":{{"input_args":[{good},{good}],"input_kwargs":{{}},'
                        f'"output":[{self.tensor(self.count % 97 == 0)}]}}')
        up = f'"{parent}"' if parent else "null"
        self.construct.write(f'{comma}"{name}":{up}')
        self.stack.write(f'{comma}"{name}":[{STACK % (self.count % 900)}]')
        return name

    def end(self) -> None:
        head = '{"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{\n'
        (self.directory / "dump.json").write_text(head + self.data.getvalue() + "\n}}")
        (self.directory / "construct.json").write_text("{\n" + self.construct.getvalue() + "\n}")
        (self.directory / "stack.json").write_text("{\n" + self.stack.getvalue() + "\n}")


def layers(side: Side, count: int) -> None:
    top = side.add("Module.model.Model.forward.0", None)
    for layer in range(max(1, count // 12)):
        box = side.add(f"Module.model.layers.{layer}.Layer.forward.0", top)
        for part in ("attention", "mlp"):
            inner = side.add(f"Module.model.layers.{layer}.{part}.Block.forward.0", box)
            for call in CALLS[:4] if part == "attention" else CALLS:
                number = layer if call in CALLS[4:] else 2 * layer + (part == "mlp")
                side.add(f"Functional.{call}.{number}.forward", inner)


def wide(side: Side, count: int) -> None:
    top = side.add("Module.wide.Wide.forward.0", None)
    for call in range(count):
        side.add(f"Functional.{CALLS[call % len(CALLS)]}.{call // len(CALLS)}.forward", top)


def deep(side: Side, count: int) -> None:
    parent, path = None, ""
    for level in range(count):
        path += f".m{level}"
        parent = side.add(f"Module{path}.Box.forward.0", parent)
    side.add("Functional.relu.0.forward", parent)


def main() -> int:
    if len(sys.argv) != 4 or sys.argv[2] not in ("layers", "wide", "deep") or not sys.argv[3].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    make = {"layers": layers, "wide": wide, "deep": deep}[sys.argv[2]]
    for name in ("npu", "bench"):
        side = Side(pathlib.Path(sys.argv[1]) / name, name == "npu")
        make(side, int(sys.argv[3]))
        side.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
