"""Parameters and results of a call: as they were for it, in the places that others give them."""

import collections

import pytest
import torch
from torch import nn

from models import Lambda


def _parameters(dump, name):
    return {key: dump.tensor(value) for key, value in dump.data[name]["parameters"].items()}


def _are(dump, name, expected):
    parameters = _parameters(dump, name)
    assert list(parameters) == list(expected)
    assert all(torch.equal(parameters[key], value) for key, value in expected.items()), name


def test_parameters_of_another_model(collect):
    layer = nn.Linear(2, 2)
    others = {"weight": torch.full((2, 2), 5.0, requires_grad=True), "bias": torch.full((2,), 7.0)}
    own = {name: value.detach().clone() for name, value in layer.named_parameters()}

    def run():
        x = torch.ones(1, 2)
        torch.func.functional_call(layer, others, x)
        layer(x)

    dump = collect(run, nn.ModuleList([layer]), level="L0", task="tensor")
    _are(dump, "Module.0.Linear.forward.0", others)
    _are(dump, "Module.0.Linear.forward.1", own)


def test_a_parameter_that_is_replaced_or_taken_away(collect):
    layer = nn.Linear(2, 2)
    new = nn.Parameter(torch.full((2, 2), 5.0))

    def run():
        layer.weight = new
        layer(torch.ones(1, 2))
        layer.bias = None
        layer(torch.ones(1, 2))

    bias = layer.bias
    dump = collect(run, nn.ModuleList([layer]), level="mix", task="tensor")
    _are(dump, "Module.0.Linear.forward.0", {"weight": new, "bias": bias})
    _are(dump, "Module.0.Linear.forward.1", {"weight": new})


@pytest.mark.parametrize("call", [lambda x: torch.max(x, dim=1), lambda x: torch.topk(x, 1),
                                  lambda x: torch.sort(x)])
def test_named_results_of_torch_are_a_tuple(call, collect):
    x = torch.randn(2, 3, requires_grad=True)
    results = []

    def run():
        results.extend(call(x))
        results[0].sum().backward()

    dump = collect(run, level="L1", task="tensor")
    name = next(iter(dump.data))
    values, indices = dump.data[name]["output"]
    assert [values["data_name"], indices["data_name"]] == [f"{name}.output.{i}.pt" for i in (0, 1)]
    assert torch.equal(dump.tensor(values), results[0]) and torch.equal(dump.tensor(indices), results[1])
    values, indices = dump.data[name.replace("forward", "backward")]["input"]
    assert values["shape"] == list(results[0].shape) and indices is None


Pair = collections.namedtuple("Pair", "a b")


class Several(tuple):
    pass


@pytest.mark.parametrize("make, shape", [
    (lambda a, b: a, ["t"]),
    (lambda a, b: (a, b), ["t", "t"]),
    (lambda a, b: [a, b], [["t", "t"]]),
    (lambda a, b: ([a], b), [["t"], "t"]),
    (lambda a, b: {"a": a}, [{"a": "t"}]),
    (lambda a, b: Several((a, b)), ["t", "t"]),
    (lambda a, b: Pair(a, b), [{"a": "t", "b": "t"}]),
    (lambda a, b: (), []),
    (lambda a, b: [], [[]]),
])
def test_what_is_no_tuple_is_one_result(make, shape, collect):
    module = Lambda(lambda self, x: make(x + 1, x + 2))

    def places(value):
        if isinstance(value, list):
            return [places(item) for item in value]
        return "t" if "dtype" in value else {key: places(item) for key, item in value.items()}

    dump = collect(lambda: module(torch.ones(2)), nn.ModuleList([module]), level="L0")
    assert places(dump.data["Module.0.Lambda.forward.0"]["output"]) == shape


def test_a_shape_is_one_result(collect):
    module = Lambda(lambda self, x: x.shape)
    dump = collect(lambda: module(torch.ones(2, 3)), nn.ModuleList([module]), level="L0")
    assert dump.data["Module.0.Lambda.forward.0"]["output"] == [{"type": "torch.Size", "value": [2, 3]}]
