"""seed_all in plain MindSpore."""

import os
import random

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

from msprobe.mindspore import MsprobeError, seed_all

ONES = Tensor(np.ones((50, 50), np.float32))


def draw():
    return (random.random(), np.random.rand(), ops.standard_normal((3,)).asnumpy().tolist(),
            nn.Dense(3, 2).weight.asnumpy().tolist())


def test_same_numbers():
    seed_all(7)
    first = draw()
    seed_all(7)
    assert draw() == first
    seed_all(8)
    assert draw() != first
    assert os.environ["PYTHONHASHSEED"] == "8"


def test_mode():
    seed_all(mode=True)
    assert ms.get_context("deterministic") == "ON"
    assert os.environ["HCCL_DETERMINISTIC"] == "true"


@pytest.mark.parametrize("arguments", [{"seed": -1}, {"seed": 2**32}, {"seed": 1.5}, {"seed": True},
                                       {"mode": 1}, {"rm_dropout": "yes"}])
def test_wrong_arguments(arguments):
    with pytest.raises(MsprobeError, match="allowed are"):
        seed_all(**arguments)


def test_dropout_is_identity_for_what_is_made_afterwards():
    old = nn.Dropout(p=0.5)
    old.set_train()
    seed_all(rm_dropout=True)
    four = Tensor(np.ones((2, 3, 4, 4), np.float32))
    five = Tensor(np.ones((2, 3, 4, 4, 4), np.float32))
    for module in (nn.Dropout(p=0.5), nn.Dropout(keep_prob=0.5), mint.nn.Dropout(0.5)):
        module.set_train()
        np.testing.assert_array_equal(module(ONES).asnumpy(), ONES.asnumpy())
    for operator, x in ((ops.Dropout(keep_prob=0.5), ONES), (ops.Dropout2D(0.5), four),
                        (ops.Dropout3D(keep_prob=0.5), five)):
        np.testing.assert_array_equal(operator(x)[0].asnumpy(), x.asnumpy())
    for function in (ops.dropout, mint.nn.functional.dropout):
        np.testing.assert_array_equal(function(ONES, p=0.5, training=True).asnumpy(), ONES.asnumpy())
    assert (old(ONES).asnumpy() == 0).any()
