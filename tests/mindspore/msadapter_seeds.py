"""seed_all where torch is MindSpore's."""

import numpy as np
import torch
import torch.nn.functional as F

from msprobe.mindspore import seed_all


def test_same_numbers():
    # torch.randn of mindtorch has a generator on the CPU that nothing seeds.
    seed_all(7)
    first = torch.nn.Linear(4, 3).weight.asnumpy().tolist()
    seed_all(7)
    assert torch.nn.Linear(4, 3).weight.asnumpy().tolist() == first
    seed_all(8)
    assert torch.nn.Linear(4, 3).weight.asnumpy().tolist() != first


def test_dropout_is_identity():
    seed_all(rm_dropout=True)
    ones = torch.ones(40, 40)
    module = torch.nn.Dropout(0.5)
    module.train()
    np.testing.assert_array_equal(module(ones).asnumpy(), ones.asnumpy())
    np.testing.assert_array_equal(F.dropout(ones, 0.5, True).asnumpy(), ones.asnumpy())
