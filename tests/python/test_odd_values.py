"""Arguments that hold themselves or more than can be walked through, odd names, odd layouts."""

import dataclasses

import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump


class Library:
    @staticmethod
    def take(value):
        return torch.ones(1)


@dataclasses.dataclass
class Node:
    value: torch.Tensor
    others: list


def _record(debugger, tmp_path, value):
    d = debugger(level="L1")
    d.register_custom_api(Library, "take", "Library")
    d.start()
    Library.take(value)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    unit = next((tmp_path / "dump" / "step0").iterdir())
    assert (unit / "dump.json").stat().st_size < 100 << 20
    return read_dump(tmp_path / "dump").data["Library.take.0.forward"]["input_args"][0]


def test_what_holds_itself_is_null_inside(debugger, tmp_path):
    ring = {"value": torch.ones(2)}
    ring["others"] = [ring, ring, ring]
    recorded = _record(debugger, tmp_path, ring)
    assert recorded["value"]["Max"] == 1
    assert recorded["others"] == [None, None, None]


def test_dataclasses_that_know_each_other(debugger, tmp_path):
    nodes = [Node(torch.full((1,), float(k)), []) for k in range(3)]
    for node in nodes:
        node.others = nodes
    recorded = _record(debugger, tmp_path, nodes[1])
    assert recorded["value"]["Max"] == 1
    assert [entry and entry["value"]["Max"] for entry in recorded["others"]] == [0, None, 2]


def test_more_ways_than_can_be_walked(debugger, tmp_path):
    value = [torch.ones(1)]
    for _ in range(19):
        value = [value, value, value]  # 3 ** 19 ways to one tensor
    assert _record(debugger, tmp_path, value) is not None


def test_halves_of_surrogate_pairs(collect):
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("a\ud800", nn.Linear(2, 2))
            self.get_submodule("a\ud800").register_parameter("p\ud801", nn.Parameter(torch.ones(1)))

        def forward(self, x):
            return {"k\ud800": getattr(self, "a\ud800")(x), "\udc00": "t\ud801", "": ""}

    model = nn.Sequential(Odd())
    dump = collect(lambda: model(torch.ones(1, 2)), model, level="L0")
    assert list(dump.data["Module.0.a\\ud800.Linear.forward.0"]["parameters"])[2] == "p\\ud801"
    output = dump.data["Module.0.Odd.forward.0"]["output"][0]
    assert list(output) == ["k\\ud800", "\\udc00", ""]
    assert output["\\udc00"]["value"] == "t\\ud801" and output[""]["value"] == ""


def test_a_tensor_with_a_layout_of_its_own_is_not_called_sparse(collect):
    dump = collect(lambda: torch.relu(torch.ones(3).to_mkldnn()), None, level="L1")
    (given,) = dump.data["Torch.relu.0.forward"]["input_args"]
    assert given["reason"] == "its layout is torch._mkldnn"
