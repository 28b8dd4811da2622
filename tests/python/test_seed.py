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


def test_no_dropout_in_attention_and_between_layers(run_script):
    run_script(
        """
        import inspect, pickle, torch
        from torch import nn
        import torch.nn.functional as F
        from msprobe.pytorch import seed_all
        signature = inspect.signature(F.dropout), inspect.signature(nn.Dropout)
        older = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5)
        seed_all(rm_dropout=True)
        x = torch.randn(5, 3, 8)
        for model in (older, nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5)):
            assert torch.equal(model(x), model(x))
        for make in (nn.RNN, nn.LSTM, nn.GRU):
            model = make(8, 8, num_layers=2, dropout=0.5)
            assert torch.equal(model(x)[0], model(x)[0])
        q = torch.randn(2, 2, 5, 8)
        plain = F.scaled_dot_product_attention(q, q, q, is_causal=True, scale=0.5)
        for dropped in (F.scaled_dot_product_attention(q, q, q, None, 0.5, True, scale=0.5),
                        F.scaled_dot_product_attention(query=q, key=q, value=q, dropout_p=0.5,
                                                       is_causal=True, scale=0.5)):
            assert torch.equal(plain, dropped)
        for function in (F.dropout, F.scaled_dot_product_attention):
            assert pickle.loads(pickle.dumps(function)) is function
        torch.jit.script(nn.Sequential(nn.Dropout(0.5)))(x)
        class Attention(nn.Module):
            def forward(self, q):
                return F.scaled_dot_product_attention(q, q, q, dropout_p=0.9, is_causal=True, scale=0.5)
        assert torch.equal(torch.jit.script(Attention())(q), plain)
        torch.jit.script(nn.MultiheadAttention(8, 2))
        assert signature == (inspect.signature(F.dropout), inspect.signature(nn.Dropout))
        """
    )


@pytest.mark.parametrize("arguments", [dict(seed=-1), dict(seed=2**32), dict(seed="1"), dict(mode=1),
                                       dict(rm_dropout="yes")])
def test_seed_all_refuses(arguments):
    with pytest.raises(MsprobeError):
        seed_all(**arguments)
