"""stop() before backward, and start(), stop() and step() from inside of the model."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from conftest import PrecisionDebugger, read_dump
from models import Lambda


def _run(d, model, stop_first, tmp_path):
    d.start(model)
    loss = model(torch.ones(2, 4, requires_grad=True)).sum()
    if stop_first:
        d.stop()
    loss.backward()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    return read_dump(tmp_path / "dump", 0)


@pytest.mark.parametrize("level,reentrant,modes", [("L0", True, ["all"]), ("L0", True, ["forward"]),
                                                   ("mix", False, ["forward"]), ("mix", True, ["forward"])])
def test_what_backward_computes_again_after_stop(level, reentrant, modes, debugger, tmp_path):
    model = Lambda(lambda s, x: checkpoint(s.body, x, use_reentrant=reentrant),
                   body=nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    dumps = [_run(debugger(level=level, data_mode=modes, top={"overwrite": True}), model, stop_first, tmp_path)
             for stop_first in (False, True)]
    assert dumps[1].names == dumps[0].names and "Module.body.0.Linear.forward.1" in dumps[0].names
    assert dumps[1].ledger["entries"] == dumps[0].ledger["entries"]


class Asking(nn.Module):
    """Runs `ask` once, between its two layers or in a hook of the first."""

    def __init__(self, ask, place):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        asks = [ask]

        def once(*args):
            if asks:
                asks.pop()()

        self.between = once if place == "forward" else lambda: None
        if place == "hook":
            self.first.register_forward_hook(once)

    def forward(self, x):
        x = self.first(x)
        self.between()
        return self.second(x)


def _gradient(function):
    x = torch.ones(2, 4, requires_grad=True)
    function(x).sum().backward()
    return x.grad


def _ask(d, model, what):
    for word in what.split():
        d.start(model) if word == "start" else getattr(d, word)()


@pytest.mark.parametrize("place", ["forward", "hook"])
@pytest.mark.parametrize("what", ["stop", "start", "stop start", "step", "stop step start"])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_from_inside_of_the_model(level, what, place, debugger, tmp_path):
    model = Asking(lambda: _ask(d, model, what), place)
    expected = _gradient(nn.Sequential(model.first, model.second) if place == "forward" else
                         lambda x: model.second(nn.functional.linear(x, model.first.weight, model.first.bias)))
    d = debugger(level=level)
    d.start(model)
    assert torch.equal(_gradient(model), expected)
    d.stop()
    d.step()
    first = read_dump(tmp_path / "dump", 0)
    assert first.ledger["entries"]["unaccounted"] == 0 and not first.errors
    second = "Functional.linear.1.forward" if level == "L1" else "Module.second.Linear.forward.0"
    assert (second in first.names) == (what in ("start", "stop start"))
    if what == "stop step start":
        second = read_dump(tmp_path / "dump", 1)
        assert second.ledger["entries"]["unaccounted"] == 0
        name = "Functional.linear.0.forward" if level == "L1" else "Module.second.Linear.forward.0"
        assert name in second.names and name.replace("forward", "backward") in second.names
    cut = "step" in what and place == "hook" and level != "L1"
    assert first.ledger["entries"]["skipped"] == ({"step_ended": 1} if cut else {})


def test_a_step_that_cuts_calls_is_told(run_script, tmp_path):
    result = run_script("""
        import torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger

        model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        debugger = PrecisionDebugger(level="L0", dump_path="dump")
        model[0].register_forward_hook(lambda *args: debugger.step())
        for _ in range(3):
            debugger.start(model)
            model(torch.ones(1, 2))
        """)
    assert result.stderr.count("the step ended while the model ran") == 1
    assert read_dump(tmp_path / "dump").ledger["entries"]["skipped"] == {"step_ended": 1}
