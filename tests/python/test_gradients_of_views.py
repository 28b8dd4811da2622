"""Gradients where the program writes into views."""

import pytest
import torch

# Of a tensor that has another view between it and what it lies in.
MAKERS = {
    "einsum": ("Torch.einsum.0", lambda x, w: torch.einsum("bij,jk->bik", x, w)),
    "linear": ("Functional.linear.0", torch.nn.functional.linear),
    "matmul": ("Torch.matmul.0", torch.matmul),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_used_and_then_written_into_has_both_gradients(kind, collect):
    name, make = MAKERS[kind]
    torch.manual_seed(1)
    x, w = torch.randn(2, 3, 4), torch.randn(4, 4)

    def run(made_of=lambda made: made):
        leaf = w.clone().requires_grad_()
        made = make(x, leaf)
        made.retain_grad()
        values = made_of(made)
        used = values.exp()
        values.mul_(3)
        (used + values).sum().backward()
        return made

    dump = collect(run, level="L1", task="tensor")
    expected = run(torch.clone).grad
    recorded = dump.tensor(dump.data[f"{name}.backward"]["input"][0])
    assert torch.allclose(recorded, expected)
