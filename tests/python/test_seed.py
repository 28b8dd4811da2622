"""seed_all: the same numbers again, and no dropout."""

import pytest

from msprobe.errors import MsprobeError
from msprobe.pytorch import seed_all


def test_seed_all(run_script):
    run_script(
        """
        import random, numpy, torch
        from torch import nn
        from msprobe.pytorch import seed_all
        def draw():
            return random.random(), numpy.random.rand(), float(torch.rand(1))
        seed_all(7)
        a = draw()
        seed_all(seed=7, mode=True, rm_dropout=True)
        assert a == draw()
        assert torch.are_deterministic_algorithms_enabled()
        x = torch.ones(100)
        assert torch.equal(nn.Dropout(0.5)(x), x)
        assert torch.equal(torch.nn.functional.dropout(x, 0.5), x)
        """
    )


@pytest.mark.parametrize("arguments", [dict(seed=-1), dict(seed=2**32), dict(seed="1"), dict(mode=1),
                                       dict(rm_dropout="yes")])
def test_seed_all_refuses(arguments):
    with pytest.raises(MsprobeError):
        seed_all(**arguments)
