"""A model that no rule was made on: rotary places, shared keys, gated products, fused norms."""

import torch
import torch.nn.functional as F
from torch import nn

from models import HEADS, WIDTH, WORDS, Gpt, causal_mask
from sites import call

KEY_HEADS = 2


class SharedKeyAttention(nn.Module):
    """Queries have more heads than keys and values; places are turned into both."""

    def __init__(self) -> None:
        super().__init__()
        self.size, self.scale = WIDTH // HEADS, (WIDTH // HEADS) ** -0.5
        self.q, self.k = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, KEY_HEADS * self.size, bias=False)
        self.v, self.out = nn.Linear(WIDTH, KEY_HEADS * self.size, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)

    def turn(self, x, cosine, sine):
        first, second = x.chunk(2, dim=-1)
        turned = call(self, "Torch.cat", torch.cat, [-second, first], dim=-1)
        straight = call(self, "Torch.mul", torch.mul, x, cosine)
        return call(self, "Torch.add", torch.add, straight, call(self, "Torch.mul", torch.mul, turned, sine))

    def split(self, x, heads):
        return x.view(*x.shape[:2], heads, self.size).transpose(1, 2)

    def forward(self, x, cosine, sine, mask):
        q = self.turn(self.split(call(self, "q", self.q, x), HEADS), cosine, sine)
        k = self.turn(self.split(call(self, "k", self.k, x), KEY_HEADS), cosine, sine)
        v = self.split(call(self, "v", self.v, x), KEY_HEADS)
        k, v = (part.repeat_interleave(HEADS // KEY_HEADS, dim=1) for part in (k, v))
        scores = call(self, "Torch.matmul", torch.matmul, q, k.transpose(-2, -1))
        scores = call(self, "Torch.mul", torch.mul, scores, self.scale)
        scores = call(self, "Torch.masked_fill", torch.masked_fill, scores, mask, -1e4)
        weights = call(self, "Functional.softmax", F.softmax, scores, dim=-1)
        mixed = call(self, "Torch.matmul", torch.matmul, weights, v)
        return call(self, "out", self.out, mixed.transpose(1, 2).flatten(2))


class GatedMlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        gate = call(self, "Functional.silu", F.silu, call(self, "gate", self.gate, x))
        hidden = call(self, "Torch.mul", torch.mul, gate, call(self, "up", self.up, x))
        return call(self, "down", self.down, hidden)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attn = nn.RMSNorm(WIDTH), SharedKeyAttention()
        self.norm2, self.mlp = nn.RMSNorm(WIDTH), GatedMlp()

    def forward(self, x, cosine, sine, mask):
        h = call(self, "attn", self.attn, call(self, "norm1", self.norm1, x), cosine, sine, mask)
        x = call(self, "Torch.add", torch.add, x, h)
        return call(self, "Torch.add", torch.add, x, call(self, "mlp", self.mlp, call(self, "norm2", self.norm2, x)))


class Rotary(nn.Module):
    def __init__(self, layers: int = 3) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        half = WIDTH // HEADS // 2
        speeds = 10.0 ** -torch.arange(half, dtype=self.words.weight.dtype)
        places = call(self, "Torch.arange", torch.arange, 0, ids.shape[1])
        angles = call(self, "Torch.outer", torch.outer, places.to(speeds.dtype), speeds).repeat(1, 2)
        cosine = call(self, "Torch.cos", torch.cos, angles)
        sine = call(self, "Torch.sin", torch.sin, angles)
        x = call(self, "words", self.words, ids)
        mask = causal_mask(self, ids.shape[1], ids.shape[1])
        for i, layer in enumerate(self.layers):
            x = call(self, f"layers.{i}", layer, x, cosine, sine, mask)
        return call(self, "head", self.head, call(self, "norm", self.norm, x))

    inputs, batch = staticmethod(Gpt.inputs), staticmethod(Gpt.batch)


HELD_OUT = {"rotary": Rotary}
