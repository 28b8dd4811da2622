"""Four small models of the kinds that people compare. Every op goes through sites.call."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from sites import call

WIDTH, HEADS, TIME, WORDS = 32, 4, 12, 64


class Attention(nn.Module):
    """Scores, mask, softmax, dropout, each on its own; or one fused call."""

    fused = False

    def __init__(self, width: int = WIDTH, heads: int = HEADS, drop: float = 0.1) -> None:
        super().__init__()
        self.heads, self.drop, self.scale = heads, drop, (width // heads) ** -0.5
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        return x.view(batch, time, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, memory=None, mask=None, cache=None):
        memory = x if memory is None else memory
        q = self.split(call(self, "q", self.q, x))
        k = self.split(call(self, "k", self.k, memory))
        v = self.split(call(self, "v", self.v, memory))
        if cache is not None:
            k, v = self.remember(cache, k, v)
        if self.fused:
            allowed = None if mask is None else ~mask
            mixed = F.scaled_dot_product_attention(q, k, v, allowed, scale=self.scale)
        else:
            scores = call(self, "Torch.matmul", torch.matmul, q, k.transpose(-2, -1))
            scores = call(self, "Torch.mul", torch.mul, scores, self.scale)
            if mask is not None:
                scores = call(self, "Torch.masked_fill", torch.masked_fill, scores, mask, -1e4)
            weights = call(self, "Functional.softmax", F.softmax, scores, dim=-1)
            weights = call(self, "Functional.dropout", F.dropout, weights, self.drop, self.training)
            mixed = call(self, "Torch.matmul", torch.matmul, weights, v)
        joined = mixed.transpose(1, 2).flatten(2)
        return call(self, "out", self.out, joined)

    def remember(self, cache, k, v):
        if id(self) in cache:
            old_k, old_v = cache[id(self)]
            k = call(self, "Torch.cat", torch.cat, [old_k, k], dim=2)
            v = call(self, "Torch.cat", torch.cat, [old_v, v], dim=2)
        cache[id(self)] = (k, v)
        return k, v


class Mlp(nn.Module):
    def __init__(self, width: int = WIDTH, drop: float = 0.1) -> None:
        super().__init__()
        self.up, self.down, self.drop = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), drop

    def forward(self, x):
        hidden = call(self, "up", self.up, x)
        hidden = call(self, "Functional.gelu", F.gelu, hidden)
        hidden = call(self, "down", self.down, hidden)
        return call(self, "Functional.dropout", F.dropout, hidden, self.drop, self.training)


class Block(nn.Module):
    def __init__(self, cross: bool = False) -> None:
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(WIDTH), Attention()
        if cross:
            self.norm_cross, self.cross = nn.LayerNorm(WIDTH), Attention()
        self.norm2, self.mlp = nn.LayerNorm(WIDTH), Mlp()

    def forward(self, x, mask=None, memory=None, memory_mask=None, cache=None):
        h = call(self, "norm1", self.norm1, x)
        h = call(self, "attn", self.attn, h, mask=mask, cache=cache)
        x = call(self, "Torch.add", torch.add, x, h)
        if memory is not None:
            h = call(self, "norm_cross", self.norm_cross, x)
            h = call(self, "cross", self.cross, h, memory=memory, mask=memory_mask)
            x = call(self, "Torch.add", torch.add, x, h)
        h = call(self, "norm2", self.norm2, x)
        h = call(self, "mlp", self.mlp, h)
        return call(self, "Torch.add", torch.add, x, h)


class Embedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TIME + 4, WIDTH)

    def forward(self, ids, begin: int = 0):
        places = call(self, "Torch.arange", torch.arange, begin, begin + ids.shape[1])
        words = call(self, "words", self.words, ids)
        places = call(self, "places", self.places, places)
        return call(self, "Torch.add", torch.add, words, places)


def causal_mask(owner, rows: int, columns: int):
    ones = torch.ones(rows, columns, dtype=torch.bool)
    return call(owner, "Torch.triu", torch.triu, ones, columns - rows + 1)


class Gpt(nn.Module):
    def __init__(self, layers: int = 3) -> None:
        super().__init__()
        self.embed = Embedding()
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids, cache=None, begin: int = 0):
        x = call(self, "embed", self.embed, ids, begin)
        mask = causal_mask(self, ids.shape[1], begin + ids.shape[1])
        for i, block in enumerate(self.blocks):
            x = call(self, f"blocks.{i}", block, x, mask=mask, cache=cache)
        return call(self, "head", self.head, call(self, "norm", self.norm, x))

    @staticmethod
    def inputs(batch):
        return (batch[:, :-1],), batch[:, 1:].flatten()

    def decode(self, batch):
        """All but two words at once, then one after the other with what the attention remembers."""
        cache: dict = {}
        begin = batch.shape[1] - 2
        self(batch[:, :begin], cache=cache)
        for at in range(begin, batch.shape[1]):
            logits = self(batch[:, at:at + 1], cache=cache, begin=at)
        return logits

    @staticmethod
    def batch():
        return torch.randint(0, WORDS, (3, TIME + 1))


class EncoderDecoder(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.source, self.goal = Embedding(), Embedding()
        self.encoder = nn.ModuleList(Block() for _ in range(layers))
        self.decoder = nn.ModuleList(Block(cross=True) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, source, goal):
        padding = call(self, "Torch.eq", torch.eq, source, 0)[:, None, None, :]
        x = call(self, "source", self.source, source)
        for i, block in enumerate(self.encoder):
            x = call(self, f"encoder.{i}", block, x, mask=padding)
        y = call(self, "goal", self.goal, goal)
        mask = causal_mask(self, goal.shape[1], goal.shape[1])
        for i, block in enumerate(self.decoder):
            y = call(self, f"decoder.{i}", block, y, mask=mask, memory=x, memory_mask=padding)
        return call(self, "head", self.head, call(self, "norm", self.norm, y))

    @staticmethod
    def inputs(batch):
        source, goal = batch
        return (source, goal[:, :-1]), goal[:, 1:].flatten()

    @staticmethod
    def batch():
        source, goal = torch.randint(1, WORDS, (3, TIME)), torch.randint(0, WORDS, (3, TIME - 2))
        source[0, -3:] = 0
        source[2, -1:] = 0
        return source, goal


class Expert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def forward(self, x):
        gate = call(self, "Functional.silu", F.silu, call(self, "gate", self.gate, x))
        hidden = call(self, "Torch.mul", torch.mul, gate, call(self, "up", self.up, x))
        return call(self, "down", self.down, hidden)


class Experts(nn.Module):
    def __init__(self, count: int = 4, chosen: int = 2) -> None:
        super().__init__()
        self.router, self.chosen = nn.Linear(WIDTH, count, bias=False), chosen
        self.experts = nn.ModuleList(Expert() for _ in range(count))

    def forward(self, x):
        flat = x.flatten(0, 1)
        shares = call(self, "Functional.softmax", F.softmax, call(self, "router", self.router, flat), dim=-1)
        best, ids = call(self, "Torch.topk", torch.topk, shares, self.chosen, dim=-1)
        total = call(self, "Torch.sum", torch.sum, best, dim=-1, keepdim=True)
        best = call(self, "Torch.div", torch.div, best, total)
        result = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows, places = torch.where(ids == i)
            taken = call(self, "Torch.index_select", torch.index_select, flat, 0, rows)
            made = call(self, f"experts.{i}", expert, taken)
            weighted = call(self, "Torch.mul", torch.mul, made, best[rows, places][:, None])
            result = call(self, "Torch.index_add", torch.index_add, result, 0, rows, weighted.to(result.dtype))
        return result.view_as(x)


class Moe(nn.Module):
    """Rms-like norms are made of single ops, experts of gated products."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.embed = Embedding()
        self.norms = nn.ModuleList(RmsNorm() for _ in range(2 * layers + 1))
        self.attn = nn.ModuleList(Attention(drop=0.0) for _ in range(layers))
        self.moe = nn.ModuleList(Experts() for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = call(self, "embed", self.embed, ids)
        mask = causal_mask(self, ids.shape[1], ids.shape[1])
        for i, (attn, moe) in enumerate(zip(self.attn, self.moe)):
            h = call(self, f"norms.{2 * i}", self.norms[2 * i], x)
            x = call(self, "Torch.add", torch.add, x, call(self, f"attn.{i}", attn, h, mask=mask))
            h = call(self, f"norms.{2 * i + 1}", self.norms[2 * i + 1], x)
            x = call(self, "Torch.add", torch.add, x, call(self, f"moe.{i}", moe, h))
        return call(self, "head", self.head, call(self, f"norms.{2 * len(self.moe)}", self.norms[-1], x))

    inputs, batch = staticmethod(Gpt.inputs), staticmethod(Gpt.batch)


class RmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(WIDTH)), 1e-6

    def forward(self, x):
        squares = call(self, "Torch.square", torch.square, x)
        mean = call(self, "Torch.mean", torch.mean, squares, dim=-1, keepdim=True)
        mean = call(self, "Torch.add", torch.add, mean, self.eps)
        factor = call(self, "Torch.rsqrt", torch.rsqrt, mean)
        return call(self, "Torch.mul", torch.mul, call(self, "Torch.mul", torch.mul, x, factor), self.weight)


class Stage(nn.Module):
    def __init__(self, width: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Conv2d(width, out, 1, stride, bias=False) if stride > 1 else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        h = call(self, "bn1", self.bn1, call(self, "conv1", self.conv1, x))
        h = call(self, "relu", self.relu, h)
        h = call(self, "bn2", self.bn2, call(self, "conv2", self.conv2, h))
        h = call(self, "Torch.add", torch.add, h, call(self, "short", self.short, x))
        return call(self, "Functional.relu", F.relu, h)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.stages = nn.ModuleList([Stage(8, 8, 1), Stage(8, 16, 2), Stage(16, 16, 1), Stage(16, 16, 1)])
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = call(self, "norm", self.norm, call(self, "stem", self.stem, x))
        x = call(self, "Functional.relu", F.relu, x)
        for i, stage in enumerate(self.stages):
            x = call(self, f"stages.{i}", stage, x)
        x = call(self, "Functional.adaptive_avg_pool2d", F.adaptive_avg_pool2d, x, 1)
        return call(self, "fc", self.fc, x.flatten(1))

    @staticmethod
    def inputs(batch):
        return (batch[0],), batch[1]

    @staticmethod
    def batch():
        return torch.randn(4, 3, 12, 12), torch.randint(0, 10, (4,))


MODELS = {"gpt": Gpt, "resnet": ResNet, "moe": Moe, "encoder-decoder": EncoderDecoder}


class Whole(nn.Module):
    """The collector records what lies below the model that it is given."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def loss(self, batch):
        inputs, wanted = self.net.inputs(batch)
        result = self.net(*inputs)
        return call(self, "Functional.cross_entropy", F.cross_entropy, result.flatten(0, -2), wanted)


def spread_weights(model: nn.Module) -> None:
    """Norms and biases of a trained model are not ones and zeros: a fault there must be able to show."""
    for parameter in model.parameters():
        if parameter.dim() == 1:
            with torch.no_grad():
                parameter.add_(torch.randn_like(parameter) / math.sqrt(WIDTH))
