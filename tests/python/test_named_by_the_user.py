"""What a user names: saved values, functions and modules of the user's own."""

import json

import pytest
import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump, units
from msprobe import notices
from msprobe.errors import MsprobeError
from msprobe.pytorch import module_dump, module_dump_end


def _saved_until_now(d, tmp_path):
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    (unit,) = units(tmp_path / "dump")
    return json.loads((unit / "debug.json").read_text())["data"]


def test_save_at_level_debug(debugger, tmp_path):
    d = debugger(level="debug")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d.start()
    for _ in range(2):
        y = x * 3
        d.save(y, "y")
        d.save({"k": [1, y]}, "more", save_backward=False)
        y.sum().backward()
    data = _saved_until_now(d, tmp_path)
    assert list(data) == [f"{name}.debug" for name in (
        "y.0", "more.0", "y_grad.0", "y.1", "more.1", "y_grad.1")]
    assert data["y.0.debug"]["Max"] == 6 and data["y_grad.1.debug"]["Norm"] == pytest.approx(2**0.5)
    assert data["more.0.debug"]["k"][0] == {"type": "int", "value": 1}


def test_gradients_have_the_number_of_their_value(debugger, tmp_path):
    d = debugger(level="debug")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d.start()
    for factor in (2, 3, 5):
        x = x * factor
        d.save(x, "h", save_backward=factor != 3)
    x.sum().backward(retain_graph=True)
    x.sum().backward()
    data = _saved_until_now(d, tmp_path)
    gradients = {name: entry["Max"] for name, entry in data.items() if "grad" in name}
    assert gradients == {"h_grad.2.debug": 1, "h_grad.0.debug": 15,
                         "h_grad.2.1.debug": 1, "h_grad.0.1.debug": 15}


def test_gradients_of_what_a_saved_value_holds(debugger, tmp_path):
    d = debugger(level="debug")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    itself = [x * 4]
    itself.append(itself)
    d.start()
    y, z = x * 3, x * 5
    d.save({"k": y, "more": [1, (z,)]}, "both")
    d.save(None, "nothing")
    d.save(itself, "itself")
    (y + 2 * z + 3 * itself[0]).sum().backward()
    data = _saved_until_now(d, tmp_path)
    assert {n: data[n]["Max"] for n in data if "_grad" in n} == {
        "both_grad.k.0.debug": 1, "both_grad.more.1.0.0.debug": 2, "itself_grad.0.0.debug": 3}
    assert data["nothing.0.debug"] is None


def test_what_comes_before_start_is_named(debugger, capfd, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    d = debugger(level="debug", top={"step": [1]})
    for _ in range(2):
        d.start()
        d.save(1, "x")  # the filter leaves it out: nobody wants to hear of that
        d.step()
    assert "start()" not in capfd.readouterr().err
    PrecisionDebugger._forget()
    debugger(level="L0", top={"overwrite": True})
    module_dump(nn.ReLU(), "mine")
    assert "module_dump() came before start()" in capfd.readouterr().err


def test_gradients_below_keys_that_are_no_plain_texts(debugger, tmp_path):
    class Text(str):
        def __str__(self):
            raise RuntimeError("not for tools")

        encode = isascii = __str__

    class Silent:
        __str__ = Text.__str__

    class Items(dict):
        items = Text.__str__

    d = debugger(level="debug")
    d.start()
    y = torch.ones(1, requires_grad=True) * 2
    d.save(Items({Text("k"): y, Silent(): y + 0, "h\ud800": y + 1}), "it")
    d.save({Text("l\ud800"): y}, "that")
    y.sum().backward()
    data = _saved_until_now(d, tmp_path)
    assert list(data["it.0.debug"]) == ["k", "", "h\\ud800"] and "it_grad.k.0.debug" in data
    assert list(data["that.0.debug"]) == ["l\\ud800"] and "that_grad.l\\ud800.0.debug" in data


def test_custom_apis(debugger, tmp_path):
    import types

    library = types.ModuleType("library")
    exec("import torch\ndef mine(x, *, scale=2):\n    return torch.sin(x) * scale", library.__dict__)
    library.packed = torch.nn.Hardtanh()
    saved = library.mine
    d = debugger(level="L1")
    d.register_custom_api(library, "mine", "Mine")
    d.register_custom_api(library, "packed")
    with pytest.raises(MsprobeError, match="registered before"):
        d.register_custom_api(library, "mine")
    x = torch.ones(2, requires_grad=True)
    d.start()
    library.mine(x, scale=3).sum().backward()
    library.packed(torch.ones(1))
    assert library.mine is saved
    d.stop()
    d.restore_custom_api(library, "mine")
    d.start()
    library.mine(x)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    data = read_dump(tmp_path / "dump").data
    assert data["Mine.mine.0.forward"]["input_kwargs"]["scale"]["value"] == 3
    assert data["Mine.mine.0.backward"]["output"][0]["shape"] == [2]
    assert "library.packed.0.forward" in data
    assert "Mine.mine.1.forward" not in data and "Torch.sin.0.forward" in data


def test_module_dump(debugger, tmp_path):
    block = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    d = debugger(level="L0")
    d.start(nn.ModuleList([nn.Tanh()]))
    module_dump(block, "mine")
    block(torch.ones(1, 2)).sum().backward()
    module_dump_end()
    block(torch.ones(1, 2))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert "Module.mine.Sequential.forward.0" in names and "Module.mine.0.Linear.backward.0" in names
    assert "Module.mine.Sequential.forward.1" not in names


def test_module_dump_of_one_module_twice(debugger, tmp_path):
    model = nn.Sequential(nn.Tanh())
    d = debugger(level="L0")
    d.start(model)
    module_dump(model[0], "mine")
    module_dump(nn.Sequential(model[0]), "whole")
    module_dump_end()
    model(torch.ones(1, 2))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert "Module.0.Tanh.forward.0" in read_dump(tmp_path / "dump").names


def test_gradients_of_a_large_saved_value(debugger):
    nested = 1.0
    for _ in range(5000):
        nested = [nested]
    wide = [[[0] * 100] * 100] * 100
    d = debugger(level="debug")
    d.start()
    d.save(nested, "nested")
    d.save(wide, "wide")
    d.stop()


def test_module_dump_of_a_part_of_the_model(debugger, tmp_path):
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Tanh())
    d = debugger(level="L0")
    d.start(model)
    x = torch.ones(1, 2)
    model(x)
    module_dump(model[1], "other")
    module_dump(model[0], "mine")
    model(x).sum().backward()
    module_dump_end()
    model(x)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    forward = [n for n in read_dump(tmp_path / "dump").names if ".forward." in n]
    first = ["Module.0.0.Linear.forward.0", "Module.0.Sequential.forward.0", "Module.1.Tanh.forward.0"]
    mine = ["Module.mine.0.Linear.forward.0", "Module.mine.Sequential.forward.0",
            "Module.other.Tanh.forward.0"]
    assert forward == first + mine + [n[:-1] + "1" for n in first]


def test_a_name_that_modules_get_again_goes_on_counting(collect):
    blocks = [nn.Sequential(nn.Linear(2, 2)) for _ in range(2)]

    def run():
        for block in blocks:
            for _ in range(2):
                module_dump(block, "mine")
                block(torch.ones(1, 2)).sum().backward()
                module_dump_end()
        module_dump(blocks[0][0], "0")  # as the model's own
        blocks[0](torch.ones(1, 2))
        module_dump_end()
        blocks[0](torch.ones(1, 2))

    dump = collect(run, nn.ModuleList([blocks[0][0]]), level="L0")
    for call in ("forward", "backward"):
        for name in ("Module.mine.Sequential", "Module.mine.0.Linear"):
            assert [f"{name}.{call}.{n}" in dump.data for n in range(5)] == [True] * 4 + [False]
    assert [f"Module.0.Linear.forward.{n}" in dump.data for n in range(3)] == [True, True, False]
    assert dump.ledger["entries"]["recorded"] == len(dump.names)
