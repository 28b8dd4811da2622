"""token_range: of the calls of the model only some are recorded."""

import threading
import types

import pytest
import torch
from torch import nn

from conftest import Dump, PrecisionDebugger, read_dump
from models import Gpt
from msprobe.pytorch import module_dump, module_dump_end


def test_token_range(debugger, tmp_path):
    model = Gpt()
    ids = torch.randint(0, 32, (1, 4))
    d = debugger(level="mix")
    with d.collect(model, token_range=(1, 2)), torch.no_grad():
        for _ in range(5):
            model(ids).argmax(-1)
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    calls = [n for n in names if n.startswith("Module.norm.")]
    assert calls == ["Module.norm.LayerNorm.forward.0", "Module.norm.LayerNorm.forward.1"]
    assert sum(n.startswith("Functional.embedding") for n in names) == 2
    ledger = read_dump(tmp_path / "dump").ledger["entries"]
    assert ledger["skipped"]["token_range"] == ledger["seen"] - ledger["recorded"] > 0


def test_a_call_that_outlives_its_step_ends_no_range_of_the_next(debugger, tmp_path):
    d = debugger(level="mix")

    class Restarts(nn.Module):
        def forward(self, x):
            d.stop()
            d.step()
            d.start(model)
            return x

    model = Restarts()
    d.start(model, token_range=(0, 0))
    model(torch.ones(2))
    torch.sin(torch.ones(2))
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    assert "Torch.sin.0.forward" in Dump(next((tmp_path / "dump" / "step1").iterdir())).names


def test_token_range_of_a_model_that_a_registered_function_calls(debugger, tmp_path):
    model = nn.Sequential(nn.ReLU())
    library = types.SimpleNamespace(generate=lambda x: [model(x) for _ in range(3)])
    d = debugger(level="mix")
    d.register_custom_api(library, "generate", "Library")
    with d.collect(model, token_range=(1, 1)):
        library.generate(torch.ones(1))
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert [n for n in names if n.startswith("Module.")] == ["Module.0.ReLU.forward.0"]


def test_token_range_over_several_calls_inside_a_registered_function(debugger, tmp_path):
    model = nn.Sequential(nn.ReLU())
    library = types.SimpleNamespace(generate=lambda x: [model(x).sin() for _ in range(4)])
    d = debugger(level="mix")
    d.register_custom_api(library, "generate", "Library")
    with d.collect(model, token_range=(1, 2)):
        library.generate(torch.ones(1))
        torch.cos(torch.ones(1))
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert names == ["Functional.relu.0.forward", "Module.0.ReLU.forward.0", "Tensor.sin.0.forward",
                     "Functional.relu.1.forward", "Module.0.ReLU.forward.1"]


def test_token_range_counts_calls_inside_a_recorded_function(debugger, tmp_path):
    model = nn.Sequential(nn.ReLU())
    library = types.SimpleNamespace(twice=lambda x: model(model(x)))
    d = debugger(level="mix")
    d.register_custom_api(library, "twice", "Library")
    with d.collect(model, token_range=(0, 3)):
        model(torch.ones(1))
        library.twice(torch.ones(1))  # what a recorded function calls is not recorded
        for _ in range(3):
            model(torch.ones(1))
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert [n for n in names if "relu" not in n] == [
        "Module.0.ReLU.forward.0", "Library.twice.0.forward", "Module.0.ReLU.forward.1"]


@pytest.mark.parametrize("grad", [True, False])
def test_token_range_counts_no_calls_after_stop(grad, debugger, tmp_path):
    model = nn.Sequential(nn.ReLU())
    x = torch.ones(1, requires_grad=grad)  # True: stop() leaves gradients to come
    d = debugger(level="L0")
    d.start(model, token_range=(0, 1))
    first = model(x)
    d.stop()
    model(x)
    d.start(model, token_range=(0, 1))
    model(first)
    model(x)
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    assert dump.names == ["Module.0.ReLU.forward.0", "Module.0.ReLU.forward.1"]
    assert dump.ledger["entries"]["skipped"] == {"token_range": 1}


@pytest.mark.parametrize("dumped", [lambda model: model, nn.Sequential, None],
                         ids=["the model", "what holds it", "in the list"])
def test_token_range_of_a_model_that_is_recorded_itself(dumped, debugger, tmp_path):
    model = nn.Sequential(nn.ReLU())
    d = debugger(level="L0")
    with d.collect(model if dumped else [model, nn.Sequential(model)], token_range=(1, 2)):
        if dumped:
            module_dump(dumped(model), "mine")
        for _ in range(4):
            model(torch.ones(1))
        if dumped:
            module_dump_end()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    assert sum(".Sequential.forward." in n for n in dump.names) == 2
    assert sum(".ReLU.forward." in n for n in dump.names) == 2 and len(dump.names) == 4
    assert dump.ledger["entries"]["skipped"] == {"token_range": 4}


def test_a_token_range_that_matched_nothing(debugger, tmp_path, capfd):
    model = nn.Sequential(nn.ReLU())
    d = debugger(level="L0")
    with d.collect(model, token_range=(5, 9)):
        model(torch.ones(1))
        model(torch.ones(1))
    PrecisionDebugger._forget()
    assert ("token_range [5, 9] matched nothing, the model was called 2 times in a step"
            in capfd.readouterr().err)
    assert read_dump(tmp_path / "dump").ledger["entries"]["skipped"] == {"token_range": 2}


@pytest.mark.parametrize("token_range, sines, cosines", [((0, 1), 2, 2), ((1, 1), 1, 1), ((0, 0), 1, 1)])
def test_calls_in_threads_that_overlap(token_range, sines, cosines, debugger, tmp_path):
    class Overlaps(nn.Module):
        def forward(self, x, begun, goes_on):
            x = torch.sin(x)
            begun.set()
            assert goes_on.wait(60)
            return torch.cos(x)

    model = Overlaps()
    d = debugger(level="L1")
    with d.collect(model, token_range=token_range):
        events = [(threading.Event(), threading.Event()) for _ in range(2)]
        threads = [threading.Thread(target=model, args=(torch.ones(1), *both)) for both in events]
        for thread, (begun, _) in zip(threads, events):
            thread.start()
            assert begun.wait(60)
        for thread, (_, goes_on) in zip(threads, events):
            goes_on.set()
            thread.join()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    assert sum(".sin." in n for n in dump.names) == sines
    assert sum(".cos." in n for n in dump.names) == cosines


class CallsItself(nn.Module):
    def forward(self, x, deeper):
        x = torch.sin(x)
        if deeper:
            x = self(x, deeper - 1)
        return torch.cos(x)


@pytest.mark.parametrize("token_range, calls", [((0, 0), 3), ((1, 1), 2), ((0, 3), 4)])
def test_a_model_that_calls_itself(token_range, calls, debugger, tmp_path):
    model = CallsItself()
    d = debugger(level="L1")
    with d.collect(model, token_range=token_range):
        model(torch.ones(1), 2)
        model(torch.ones(1), 0)
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    for name in ("sin", "cos"):
        assert sum(f"Torch.{name}." in n for n in dump.names) == calls
