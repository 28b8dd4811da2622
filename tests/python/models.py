"""Small programs whose gradients are known from other ways of asking torch."""

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Lambda(nn.Module):
    """A module out of a function; keyword arguments become its children."""

    def __init__(self, function, **children):
        super().__init__()
        self.function = function
        for name, child in children.items():
            setattr(self, name, child)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class Square(torch.autograd.Function):
    """Overwrites in backward what it was given."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient.mul_(2) * x


@dataclasses.dataclass
class Pair:
    a: torch.Tensor
    b: torch.Tensor


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        parts = self.qkv(x).split(width, -1)
        q, k, v = (p.view(batch, time, self.heads, -1).transpose(1, 2) for p in parts)
        weights = F.softmax((q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5, -1)
        return self.out((weights @ v).transpose(1, 2).contiguous().view(batch, time, width))


class Block(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.act = nn.Linear(width, 4 * width), nn.GELU()
        self.down = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, layers=2, width=16, words=32):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ResNet(nn.Module):
    """In-place ReLU behind batch norms, and a sum into a branch."""

    def __init__(self, width=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(width, 5)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(x))
        y += x
        return self.fc(self.relu(y).mean((2, 3)))


def _autocast(model, x):
    with torch.autocast("cpu", torch.bfloat16):
        y = model(x * 1)
    return y.float().pow(2).sum()


def _linear_gelu():
    return nn.Sequential(nn.Linear(8, 8), nn.GELU())


def _lstm_loss(model, x):
    output, state = model(x)
    return output.sum() + state[1].pow(2).sum()


def _pair_loss(model, x):
    pair = model(x * 1, y=x + 1)
    return (pair.a * pair.b).sum()


def _both(pair):
    return (pair[0] * pair[1]).sum()


def _with_side_output(module, x):
    module.aux = (x * 3).sum()
    return x * 2


def _with_side_outputs(module, x):
    module.losses = [x.pow(2).sum(), module.l(x).mean()]
    return x * 2


def _with_second_output(module, x):
    result, module.aux = module.t(x)
    return result


def _dict_loss(result):
    return result["main"].pow(2).sum() * result["rest"][0] + result["rest"][1][0].sum()


def _hidden_and_relu(module, x):
    hidden = module.l(x)
    return hidden, F.relu(hidden)


# name: (make the model, loss of (model, x [2, 3, 8]))
CASES = {
    "linear 3-D": (lambda: nn.Linear(8, 8), lambda m, x: m(x * 1).sum()),
    "linear 3-D without bias": (lambda: nn.Linear(8, 8, bias=False), lambda m, x: m(x).sum()),
    "residual, used twice": (
        lambda: Lambda(lambda s, x: x + s.l(F.relu(s.l(x))) * x, l=nn.Linear(8, 8)),
        lambda m, x: m(m(x * 1)).pow(2).sum(),
    ),
    "tied weights": (
        lambda: Lambda(lambda s, x: F.linear(F.gelu(s.l(x)), s.l.weight), l=nn.Linear(8, 8)),
        lambda m, x: m(x).pow(2).sum(),
    ),
    "batch norm + in-place relu": (
        lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True)),
        lambda m, x: m(x.reshape(2, 2, 3, 4) * 1).pow(2).sum(),
    ),
    "in-place relu on a view": (
        lambda: nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True)),
        lambda m, x: m(x).pow(2).sum(),
    ),
    "lstm": (lambda: nn.LSTM(8, 8, 2), _lstm_loss),
    "chunk, one unused": (
        lambda: Lambda(lambda s, x: s.l(x).chunk(2, -1), l=nn.Linear(8, 8)),
        lambda m, x: m(x * 2)[1].pow(2).sum(),
    ),
    "expand": (
        lambda: Lambda(lambda s, x, y: x * y + y.expand(2, 3, 8)),
        lambda m, x: m(x * 1, x[0, 0] * 1).pow(2).sum(),
    ),
    "custom function": (
        lambda: Lambda(lambda s, x: Square.apply(s.l(x)), l=nn.Linear(8, 8)),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "custom functions inside": (
        lambda: Lambda(lambda s, x: Square.apply(Square.apply(x)) + 1),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "checkpoint": (
        lambda: Lambda(lambda s, x: checkpoint(s.l, x, use_reentrant=False) * 2, l=_linear_gelu()),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "checkpoint, reentrant": (
        lambda: Lambda(lambda s, x: checkpoint(s.l, x, use_reentrant=True) * 2, l=_linear_gelu()),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "unused output": (
        lambda: Lambda(lambda s, x: (x * 2, x * 3)),
        lambda m, x: m(x * 1)[0].pow(2).sum(),
    ),
    "identity": (
        lambda: Lambda(lambda s, x: s.i(x) * 2 + x, i=nn.Identity()),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "view output": (
        lambda: Lambda(lambda s, x: x.view(-1, 4)[1:]),
        lambda m, x: m(x * 1).pow(2).sum(),
    ),
    "dataclass and keyword": (lambda: Lambda(lambda s, x, *, y: Pair(x * y, x + y)), _pair_loss),
    "output used inside": (
        lambda: Lambda(_hidden_and_relu, l=nn.Linear(8, 8)),
        lambda m, x: _both(m(x * 1)),
    ),
    "side output": (
        lambda: Lambda(_with_side_output),
        lambda m, x: m(x * 1).pow(2).sum() + m.aux,
    ),
    "side outputs in a list": (
        lambda: Lambda(_with_side_outputs, l=nn.Linear(8, 8)),
        lambda m, x: m(x * 1).pow(2).sum() + m.losses[0] + m.losses[1],
    ),
    "second output used elsewhere": (
        lambda: Lambda(_with_second_output, t=Lambda(lambda s, x: (s.l(x), x.mean()), l=nn.Linear(8, 8))),
        lambda m, x: m(x * 1).pow(2).sum() + m.aux.exp(),
    ),
    "dict of outputs": (
        lambda: Lambda(lambda s, x: {"main": s.l(x), "rest": [x.mean(), (x * 2,)]}, l=nn.Linear(8, 8)),
        lambda m, x: _dict_loss(m(x * 1)),
    ),
    "autocast, tied": (lambda: Lambda(lambda s, x: s.l(s.l(x)), l=nn.Linear(8, 8)), _autocast),
    "transformer layer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
        lambda m, x: m(x * 1).pow(3).sum(),  # squares of what is normalized have no gradient
    ),
    "transformer layer, no batch_first": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.1),
        lambda m, x: m(x * 1).pow(3).sum(),
    ),
}
