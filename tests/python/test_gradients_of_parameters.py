"""parameters_grad where programs freeze modules, and take gradients away, in the middle of a step."""

import gc
import json
import weakref

import pytest
import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump, units


def _recorded(directory):
    """{k: what was accumulated} of the only module; each name is written once."""
    (unit,) = units(directory)
    names = []
    json.loads((unit / "dump.json").read_text(), object_pairs_hook=lambda pairs: names.extend(k for k, _ in pairs))
    names = [name for name in names if ".parameters_grad." in name]
    assert len(names) == len(set(names)), names
    dump = read_dump(directory)
    assert dump.ledger["entries"]["unaccounted"] == 0
    return {int(name.rpartition(".")[2]): {key: dump.tensor(value[0]) for key, value in entry.items()
                                           if "data_name" in value[0]}
            for name, entry in dump.data.items() if name in names}


def _step(debugger, tmp_path, run, layer, **config):
    d = debugger(task="tensor", level="L0", **config)
    d.start(nn.ModuleList([layer]))
    run()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    return _recorded(tmp_path / "dump")


def _is(gradients, expected):
    return list(gradients) == list(expected) and all(
        torch.equal(gradients[name], value) for name, value in expected.items())


def _grads(layer):
    return {name: value.grad.clone() for name, value in layer.named_parameters()}


@pytest.mark.parametrize("frozen", [["weight", "bias"], ["weight"], ["bias"]])
def test_frozen_when_the_step_begins(frozen, debugger, tmp_path):
    """As a discriminator is that the step before has left frozen."""
    layer = nn.Linear(4, 2)
    for name in frozen:
        getattr(layer, name).requires_grad_(False)
    expected = []

    def run():
        layer.requires_grad_(True)
        for _ in range(2):
            layer(torch.randn(3, 4)).sum().backward()
            expected.append(_grads(layer))
        layer.requires_grad_(False)

    recorded = _step(debugger, tmp_path, run, layer)
    assert list(recorded) == [0, 1]
    assert all(_is(recorded[k], expected[k]) for k in (0, 1))


def test_unfrozen_between_two_backward_passes(debugger, tmp_path):
    layer = nn.Linear(4, 2)
    layer.weight.requires_grad_(False)
    expected = []

    def run():
        layer(torch.randn(3, 4)).sum().backward()
        expected.append({"bias": layer.bias.grad.clone()})
        layer.requires_grad_(True)
        layer(torch.randn(3, 4)).sum().backward()
        expected.append(_grads(layer))

    recorded = _step(debugger, tmp_path, run, layer)
    assert list(recorded) == [0, 1]
    assert all(_is(recorded[k], expected[k]) for k in (0, 1))


def test_frozen_after_it_was_used(debugger, tmp_path):
    """Nothing is accumulated: what is there comes from before."""
    layer = nn.Linear(4, 2)
    layer(torch.randn(3, 4)).sum().backward()

    def run():
        loss = layer(torch.randn(3, 4)).sum()
        layer.weight.requires_grad_(False)
        loss.backward()

    recorded = _step(debugger, tmp_path, run, layer)
    assert _is(recorded[0], {"bias": layer.bias.grad})


def test_an_optimizer_inside_backward_takes_the_gradient_away(debugger, tmp_path):
    layer = nn.Linear(4, 2)
    optimizers = {p: torch.optim.SGD([p], 0.1) for p in layer.parameters()}
    names = {p: name for name, p in layer.named_parameters()}
    expected = [{}, {}]

    def use_up(parameter):
        expected[-1 if expected[0].keys() >= {names[parameter]} else 0][names[parameter]] = parameter.grad.clone()
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in layer.parameters():
        parameter.register_post_accumulate_grad_hook(use_up)

    def run():
        for _ in range(2):
            layer(torch.randn(3, 4)).sum().backward()

    recorded = _step(debugger, tmp_path, run, layer)
    assert layer.weight.grad is None
    assert list(recorded) == [0, 1]
    for k in (0, 1):
        assert recorded[k].keys() == expected[k].keys() == {"weight", "bias"}
        assert all(torch.equal(recorded[k][name], expected[k][name]) for name in names.values())


def test_what_a_hook_leaves_is_recorded(debugger, tmp_path):
    layer = nn.Linear(4, 2)

    def halve(parameter):
        parameter.grad = parameter.grad / 2

    for parameter in layer.parameters():
        parameter.register_post_accumulate_grad_hook(halve)
    recorded = _step(debugger, tmp_path, lambda: layer(torch.randn(3, 4)).sum().backward(), layer)
    assert _is(recorded[0], _grads(layer))


def test_a_sum_that_is_taken_away_is_not_known(debugger, tmp_path):
    layer = nn.Linear(4, 2, bias=False)
    rounds = []

    def use_up(parameter):
        rounds.append(parameter.grad.clone())
        if len(rounds) == 2:
            parameter.grad = None

    layer.weight.register_post_accumulate_grad_hook(use_up)

    def run():
        for _ in range(2):
            layer(torch.randn(3, 4)).sum().backward()

    recorded = _step(debugger, tmp_path, run, layer)
    assert list(recorded) == [0, 1] and _is(recorded[0], {"weight": rounds[0]})
    (weight,) = read_dump(tmp_path / "dump").data["Module.0.Linear.parameters_grad.1"]["weight"]
    assert weight["shape"] == [2, 4] and weight["Max"] is None
    assert weight["reason"] == "the program has taken the gradient away"


def _tied(model):
    model.head.weight = model.words.weight


def _untied(model):
    model.head.weight = nn.Parameter(torch.randn(5, 3))


def _with_bias(model):
    model.head.bias = nn.Parameter(torch.randn(5))


class Late(nn.Module):
    """Makes its parameter in its first call."""

    def __init__(self):
        super().__init__()
        self.register_parameter("scale", None)

    def forward(self, x):
        if self.scale is None:
            self.scale = nn.Parameter(torch.ones(x.shape[-1]))
        return x * self.scale


@pytest.mark.parametrize("level", ["L0", "mix"])
@pytest.mark.parametrize("change", [_tied, _untied, _with_bias])
def test_parameters_that_come_after_start(change, level, collect):
    model = nn.ModuleDict({"words": nn.Embedding(5, 3), "head": nn.Linear(3, 5, bias=False), "late": Late()})
    if change is _untied:
        _tied(model)

    def run():
        change(model)
        model["late"](model["head"](model["words"](torch.tensor([1, 2])))).pow(2).sum().backward()

    dump = collect(run, model, level=level, task="tensor")
    for name, part in model.items():
        entry = dump.data[f"Module.{name}.{type(part).__name__}.parameters_grad.0"]
        assert _is({key: dump.tensor(value[0]) for key, value in entry.items()}, _grads(part))
    assert sum(".parameters_grad." in name for name in dump.names) == 3
    assert dump.ledger["entries"]["unaccounted"] == 0


def test_weights_that_take_turns(debugger, tmp_path):
    """Each use is one entry; weights that no graph holds are let go."""
    layer = nn.Linear(4, 2, bias=False)
    x = torch.randn(3, 4)
    expected, references = [], []

    def run():
        for _ in range(3):
            fast = {"weight": layer.weight.detach().clone().requires_grad_()}
            references.append(weakref.ref(fast["weight"]))
            torch.func.functional_call(layer, fast, (x,)).sum().backward()
            expected.append({"weight": fast["weight"].grad.clone()})
            computed = {"weight": layer.weight * 2}  # accumulates nothing itself
            torch.func.functional_call(layer, computed, (x,)).sum()
            layer(x).pow(2).sum().backward()
            expected.append(_grads(layer))
        del fast
        gc.collect()
        assert sum(reference() is not None for reference in references) <= 1

    recorded = _step(debugger, tmp_path, run, layer)
    assert list(recorded) == list(range(6))
    assert all(_is(recorded[k], expected[k]) for k in range(6))


class _Scaled(nn.Module):
    """The ParameterList is never called itself."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(4))])

    def forward(self, x):
        return self.linear(x) * self.scales[0]


def test_gradients_of_a_module_that_is_never_called_have_a_place(collect):
    model = nn.Sequential(_Scaled())
    dump = collect(lambda: model(torch.randn(2, 4)).sum().backward(), model, level="mix")
    name = "Module.0.scales.ParameterList.parameters_grad.0"
    assert dump.data[name]["0"][0]["shape"] == [4]
    assert name in dump.construct
    assert "Module.0.linear.Linear.parameters_grad.0" not in dump.construct  # stands under its module's backward
