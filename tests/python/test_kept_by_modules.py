"""L0 follows gradients through what a module keeps in its attributes, at a bounded cost."""

import torch
from torch import nn


class Counted:
    """As a dataclass: counts how often somebody looks into one of them."""

    __dataclass_fields__ = {"field": None}
    looks = 0

    @property
    def field(self):
        Counted.looks += 1


class Keeps(nn.Module):
    def __init__(self, kept, keep):
        super().__init__()
        self.kept, self.keep = kept, keep

    def forward(self, x):
        self.keep(self.kept, (x * 3).sum())
        return x * 2


def _input_gradient(collect, module):
    def program():
        x = torch.ones(4, requires_grad=True)
        loss = module(x * 1).sum()
        (loss + _last(module.kept)).backward()

    return collect(program, nn.ModuleList([module]), level="L0").data["Module.0.Keeps.backward.0"]["output"][0]


def _last(kept):
    if isinstance(kept, torch.Tensor):
        return kept
    return _last(list(kept.values())[-1] if isinstance(kept, dict) else kept[-1])


LONG = 20_000


def test_a_long_list_costs_no_more_than_its_end(collect):
    module = Keeps([Counted() for _ in range(LONG)], list.append)
    assert _input_gradient(collect, module)["Max"] == 5  # 2 by the output, 3 by what was kept
    assert 0 < Counted.looks < 1000


def test_a_large_dictionary(collect):
    Counted.looks = 0
    module = Keeps({i: Counted() for i in range(LONG)}, lambda kept, loss: kept.update(loss=loss))
    assert _input_gradient(collect, module)["Max"] == 5
    assert 0 < Counted.looks < 1000


def test_in_a_list_in_a_list(collect):
    module = Keeps([[1, 2], [None]], lambda kept, loss: kept[1].append(loss))
    assert _input_gradient(collect, module)["Max"] == 5
