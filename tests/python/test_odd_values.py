"""Arguments that hold themselves or more than can be walked through, odd names, odd layouts."""

import collections
import dataclasses
import sys
import types

import pytest
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


def test_filters_with_halves_of_surrogate_pairs(collect):
    model = nn.Sequential()
    model.add_module("a\ud800", nn.ReLU())
    model.add_module("b", nn.ReLU())
    dump = collect(lambda: model(torch.ones(1)), model, level="L0", list=["a\ud800"])
    assert dump.names == ["Module.a\\ud800.ReLU.forward.0"]


class Text(str):
    def __str__(self):
        raise RuntimeError("not for tools")

    encode = __str__


class Half:
    def __str__(self):
        return "half\ud800"


def _call_with(debugger, tmp_path, **named):
    """What is recorded of the keyword arguments of a function, an object, a module."""
    library = types.SimpleNamespace(function=lambda **_: 1, thing=type("Thing", (), {"__call__": _take})())
    model = nn.Sequential(type("Module", (nn.Module,), {"forward": _take})())
    d = debugger(level="mix")
    d.register_custom_api(library, "function", "Library")
    d.register_custom_api(library, "thing", "Library")
    d.start(model)
    library.function(**named)
    library.thing(**named)
    model[0](**named)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    assert not dump.errors and len(dump.names) == 3
    return [entry["input_kwargs"] for entry in dump.data.values()]


def _take(self, **named):
    return 1


def test_names_of_keyword_arguments(debugger, tmp_path):
    for named in _call_with(debugger, tmp_path, **{Text("x"): 1, "k\ud800": 2, Text("\udfff"): 3, "": 4}):
        assert {name: value["value"] for name, value in named.items()} == {
            "x": 1, "k\\ud800": 2, "\\udfff": 3, "": 4}


def test_texts_of_a_class_of_their_own_name_arguments_of_torch(collect):
    x = torch.ones(2, 2)

    def program():
        torch.softmax(**{Text("input"): x, Text("dim"): 0})
        x.sum(**{Text("dim"): 0})
        torch.nn.functional.gelu(x, **{Text("approximate"): Text("tanh")})

    data = collect(program, None, level="L1").data
    assert list(data["Torch.softmax.0.forward"]["input_kwargs"]) == ["input", "dim"]
    assert list(data["Tensor.sum.0.forward"]["input_kwargs"]) == ["dim"]
    assert list(data["Functional.gelu.0.forward"]["input_kwargs"]) == ["approximate"]


def test_keys_and_fields_that_are_no_plain_texts(debugger, tmp_path):
    fields = type("Fields", (collections.namedtuple("Fields", "a b"),), {"_fields": ("a\ud800", Half())})
    recorded = _record(debugger, tmp_path, [{Text("x"): 1, Half(): 2}, fields(3, 4)])
    assert [{name: value["value"] for name, value in item.items()} for item in recorded] == [
        {"x": 1, "half\\ud800": 2}, {"a\\ud800": 3, "half\\ud800": 4}]


def test_a_type_whose_name_is_half_a_pair(debugger, tmp_path):
    odd = type("Odd", (), {"__qualname__": "Odd\ud800"})
    assert _record(debugger, tmp_path, odd())["type"] == "Odd\\ud800"


@pytest.mark.skipif(not hasattr(sys, "get_int_max_str_digits"), reason="this Python writes all digits")
def test_a_number_with_more_digits_than_python_writes(debugger, tmp_path):
    assert _record(debugger, tmp_path, 1 << 99999) == {"type": "int"}


def test_a_stack_of_a_file_whose_name_is_not_utf_8(collect):
    code = compile("import torch\ndef f(): torch.sin(torch.ones(1))", "odd\udcff.py", "exec")
    exec(code, names := {})
    dump = collect(names["f"], None, level="L1")
    (lines,) = [lines for _, (called, lines) in dump.stack.items()]
    assert lines[0].startswith("File odd\\udcff.py, line 2, in f")


def test_a_tensor_with_a_layout_of_its_own_is_not_called_sparse(collect):
    dump = collect(lambda: torch.relu(torch.ones(3).to_mkldnn()), None, level="L1")
    (given,) = dump.data["Torch.relu.0.forward"]["input_args"]
    assert given["reason"] == "its layout is torch._mkldnn"
