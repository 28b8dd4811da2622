"""A function that is registered under two names: one object, whichever is taken back first."""

import inspect
import math
import types

import pytest
import torch

from conftest import PrecisionDebugger, read_dump


def doubled(value, *, by=2):
    return value * by


# Kinds of functions that are watched in ways of their own, and a call of each.
FUNCTIONS = {
    "built-in function": (math.sqrt, lambda f: f(16.0) == 4.0),
    "function": (doubled, lambda f: f(3) == 6 and f(3, by=3) == 9),
    "method of a built-in type": (torch.Tensor.numel, lambda f: f(torch.ones(3)) == 3),
}


def _state(function):
    try:
        signature = str(inspect.signature(function))
    except ValueError:
        signature = ""
    return getattr(function, "__code__", None), signature


@pytest.mark.parametrize("first", ["One", "Other"])
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_function_with_two_names(kind, first, debugger, tmp_path):
    function, right = FUNCTIONS[kind]
    before = _state(function)
    libraries = {name: types.SimpleNamespace(run=function, __name__=name) for name in ("One", "Other")}
    d = debugger(level="L1")
    d.start()
    for name, library in libraries.items():
        d.register_custom_api(library, "run", name)
    assert right(function) and _state(function)[1] == before[1]
    left = "Other" if first == "One" else "One"
    d.restore_custom_api(libraries[first], "run")
    assert right(function) and _state(function)[1] == before[1]
    d.restore_custom_api(libraries[left], "run")
    assert right(function) and _state(function) == before
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    names = [name for name in read_dump(tmp_path / "dump").names if "run" in name]
    assert {name.partition(".")[0] for name in names} == {"Other", left}
