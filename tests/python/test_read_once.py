"""A tensor that a module hands on to the only API that it calls is read once. What a program writes on the way is
recorded all the same."""

import ctypes
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional

SIDE = 64  # smaller tensors are read each time, however well they are known
ADDED = 2.0  # to the mean, where something is written


def write(tensor):
    """As a kernel of the program's own: no call that is recorded shows it."""
    elements = ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_float))
    elements[0] += ADDED * tensor.numel()


def changes(collect, layer, first=None, **config):
    """Of the mean of the input on its way to the API, and of the output on its way back."""
    layer.given = torch.zeros(SIDE, SIDE)

    def run():
        if first is not None:
            first()
        layer(layer.given)

    dump = collect(run, nn.Sequential(layer), **config)

    def means(kind):
        entry = next(entry for name, entry in dump.data.items() if name.startswith(kind))
        return entry["input_args"][0]["Mean"], entry["output"][0]["Mean"]

    (module_in, module_out), (api_in, api_out) = means("Module."), means("Functional.")
    return round(api_in - module_in, 3), round(module_out - api_out, 3)


def linear():
    return nn.Linear(SIDE, SIDE)


class OwnForward(nn.Linear):
    def forward(self, x):
        write(x)
        result = functional.linear(x, self.weight, self.bias)
        write(result)
        return result


class OwnWeight(nn.Linear):
    """Computed when it is asked for, as by torch.nn.utils.parametrize: nothing of it is on the stack of the API."""

    given = torch.zeros(1)

    def __getattr__(self, name):
        if name == "weight":
            write(self.given)
        return super().__getattr__(name)


def with_hooks():
    layer = linear()
    layer.register_forward_pre_hook(lambda _, args: write(args[0]))
    layer.register_forward_hook(lambda _, args, result: write(result))
    return layer


def with_forward_in_the_module():
    layer = linear()
    layer.forward = lambda x: OwnForward.forward(layer, x)
    return layer


MODULES = {"hooks": with_hooks, "a class with its own forward": lambda: OwnForward(SIDE, SIDE),
           "a module with its own forward": with_forward_in_the_module}


@pytest.mark.parametrize("summary", ["statistics", "md5"])
@pytest.mark.parametrize("name", MODULES)
def test_what_is_written_around_the_api_is_recorded(collect, name, summary):
    assert changes(collect, MODULES[name](), summary_mode=summary) == (ADDED, ADDED)


def test_what_an_attribute_writes_is_recorded(collect):
    assert changes(collect, OwnWeight(SIDE, SIDE)) == (ADDED, 0)


def test_what_hooks_of_all_modules_write_is_recorded(collect):
    hooks = [nn.modules.module.register_module_forward_pre_hook(lambda module, args: write(args[0])),
             nn.modules.module.register_module_forward_hook(lambda module, args, result: write(result))]
    try:
        layer = linear()
        layer_changes = changes(collect, layer)
    finally:
        for hook in hooks:
            hook.remove()
    assert layer_changes == (ADDED, ADDED)


def test_what_a_function_around_the_api_writes_is_recorded(collect, monkeypatch):
    """Put there while calls are recorded: what stands there before is itself what is recorded."""
    def around(x, *rest):
        write(x)
        result = original(x, *rest)
        write(result)
        return result

    original = functional.linear
    assert changes(collect, linear(), lambda: monkeypatch.setattr(functional, "linear", around)) == (ADDED, ADDED)


@pytest.mark.parametrize("layer", [nn.ReLU(inplace=True), nn.Dropout(0.0, inplace=True), nn.SiLU(inplace=True)],
                         ids=lambda layer: type(layer).__name__)
def test_the_result_of_a_module_that_works_in_place_is_its_own(collect, layer):
    def run():
        x = torch.full((SIDE, SIDE), -1.0)
        x[0] = SIDE
        layer(x)

    dump = collect(run, nn.Sequential(layer))
    (entry,) = (entry for name, entry in dump.data.items() if name.startswith("Module."))
    (api,) = (entry for name, entry in dump.data.items() if name.startswith("Functional."))
    assert entry["input_args"][0]["Mean"] == api["input_args"][0]["Mean"] == 1 / SIDE
    assert entry["output"][0]["Mean"] == api["output"][0]["Mean"]
    assert type(layer) is nn.Dropout or entry["output"][0]["Min"] > -1


LAYERS = [linear(), nn.LayerNorm(SIDE), nn.GELU(), nn.Softmax(-1), nn.Dropout()]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_a_tensor_of_both_is_read_once(collect, layer):
    """A profiler looks at calls where no program does: what it writes there is not seen."""
    code = type(layer).forward.__code__

    def profile(frame, event, argument):
        if frame.f_code is code and event == "call":
            write(frame.f_locals["input"])
        elif frame.f_code is code and event == "return" and argument is not None:
            write(argument)

    sys.setprofile(profile)
    try:
        layer_changes = changes(collect, layer)
    finally:
        sys.setprofile(None)
    assert layer_changes == (0, 0)
