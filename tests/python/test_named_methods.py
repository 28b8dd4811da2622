"""register_custom_api with what is called in other ways than functions are."""

import functools

import numpy
import pytest
import torch

from conftest import read_dump
from msprobe.errors import MsprobeError


@pytest.fixture
def record(debugger, tmp_path):
    """record(run, (owner, name), …) gives the names of what run() calls while these are registered."""

    def record(run, *registered, level="L0", **config):
        d = debugger(level=level, **config)
        for owner, name in registered:
            d.register_custom_api(owner, name, "Mine")
        with d.collect(torch.nn.Module()):
            run()
        for owner, name in registered:
            d.restore_custom_api(owner, name)
        return [name for name in read_dump(tmp_path / "dump").names if name.startswith("Mine")]

    return record


def test_items_are_still_set_while_other_slots_are_watched(record):
    x, y = torch.zeros(3), torch.zeros(3)

    def run():
        x[0] = 1
        float(x[0])

    before = torch.Tensor.__getitem__
    assert record(run, (torch.Tensor, "__getitem__"), level="mix") == ["Mine.__getitem__.0.forward"]
    assert x.tolist() == [1, 0, 0] and torch.Tensor.__getitem__ is before
    y[1] = 1
    assert y.tolist() == [0, 1, 0] and "__getitem__" not in torch.Tensor.__dict__


def test_a_slot_before_setitem_takes_no_call_from_it(debugger, tmp_path):
    d = debugger(level="L1")
    d.register_custom_api(torch.Tensor, "__getitem__", "Mine")
    d.register_custom_api(torch.Tensor, "__setitem__", "Mine")
    x = torch.zeros(3)
    with d.collect():
        x[0] = x[1]
    d.restore_custom_api(torch.Tensor, "__setitem__")
    with d.collect():
        x[0] = x[1]
    names = [set(read_dump(tmp_path / "dump", step).names) for step in (0, 1)]
    assert {"Mine.__getitem__.0.forward", "Mine.__setitem__.0.forward"} <= names[0]
    assert "Tensor.__setitem__.0.forward" in names[1]


@pytest.mark.parametrize("owner, name", [(numpy.ndarray, "__matmul__"), ([], "append"), (int, "from_bytes")])
def test_what_takes_no_other_attribute_is_refused(owner, name, debugger):
    with pytest.raises(MsprobeError, match=f"{name} of .* cannot be watched.*: register a function of yours"):
        debugger(level="L0").register_custom_api(owner, name, "Mine")


def test_methods_of_classes_get_the_class_that_they_are_called_on(record):
    class Base:
        @classmethod
        def build(cls, *args):
            return cls, args

        @staticmethod
        def plain(*args):
            return args

        wrapped = classmethod(functools.lru_cache(lambda cls, *args: (cls, args)))
        given = functools.partial(lambda *args: args, 0)

    class Sub(Base):
        pass

    expected = [(Base, (1,)), (Base, (2,)), (Sub, (3,)), (Sub, (4,))]
    got = {}

    def run():
        for name in ("build", "wrapped", "plain", "given"):
            got[name] = [getattr(owner, name)(n) for n, owner in enumerate((Base, Base(), Sub, Sub()), 1)]

    held = dict(vars(Base))
    names = record(run, *((Base, name) for name in ("build", "wrapped", "plain", "given")))
    assert got["build"] == got["wrapped"] == expected
    assert got["plain"] == [(n,) for n in range(1, 5)] and got["given"] == [(0, n) for n in range(1, 5)]
    assert names == [f"Mine.{name}.{n}.forward" for name in got for n in range(4)]
    assert dict(vars(Base)) == held


def test_apply_of_an_autograd_function_is_recorded_for_that_function(record, tmp_path):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = torch.ones(2, requires_grad=True)

    def run():
        Double.apply(x).sum().backward()

    assert record(run, (Double, "apply")) == ["Mine.apply.0.forward", "Mine.apply.0.backward"]
    assert x.grad.tolist() == [2, 2] and "apply" not in Double.__dict__
    assert read_dump(tmp_path / "dump").data["Mine.apply.0.backward"]["output"][-1]["Max"] == 2
