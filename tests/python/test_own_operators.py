"""Tensors whose class decides what torch's operators do with them (`__torch_dispatch__`)."""

import torch
from torch import nn
from torch.utils._pytree import tree_map

called = []  # operators that have come to the class


class Wrapped(torch.Tensor):
    """Like what libraries quantize or spread with: has no memory of its own, gives its own kind."""

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device, requires_grad=requires_grad)

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        called.append(str(func))
        inner = tree_map(lambda x: x.inner if isinstance(x, Wrapped) else x, (args, kwargs or {}))
        return tree_map(lambda x: Wrapped(x) if isinstance(x, torch.Tensor) else x,
                        func(*inner[0], **inner[1]))


def _train():
    called.clear()
    torch.manual_seed(0)
    linear = nn.Linear(4, 4)
    for name, parameter in list(linear.named_parameters()):
        setattr(linear, name, nn.Parameter(Wrapped(parameter.detach())))
    model = nn.ModuleList([linear])
    x = Wrapped(torch.ones(2, 3, 4), requires_grad=True)

    def run():
        y = linear(x)  # flattens its input, transposes its weight
        y = torch.mul(y, y.sin())
        (torch.sin(y) + torch.cos(y) + torch.relu(y)).sum().backward()

    return model, run, lambda: [x.grad.inner, *(p.grad.inner for p in linear.parameters())]


def test_no_operator_of_theirs_runs_for_gradients(collect):
    """Sums and layouts of gradients would need some: the record says why it does not have these."""
    _, run, gradients = _train()
    run()
    plain, operators = gradients(), list(called)
    model, run, gradients = _train()
    dump = collect(run, model, level="mix", task="tensor")
    assert called == operators
    assert all(torch.equal(a, b) for a, b in zip(plain, gradients()))
    assert dump.ledger["problems"] == 0
    (gradient,) = dump.data["Torch.mul.0.backward"]["input"]  # of a result that is used three times
    assert gradient["type"] == "Wrapped" and gradient["shape"] == [2, 3, 4]
    assert gradient["Max"] is None and gradient["reason"]
