"""Two more networks the way two stacks write them: an encoder with its norms behind, a mixture of experts."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from match_models import HEAD, HEADS, INNER, LENGTH, WIDTH, WORDS, ColumnParallelLinear, RowParallelLinear, named

EXPERTS = 3


class BertSelfAttention(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.query = named(nn.Linear(WIDTH, WIDTH), f"l{i}.q")
        self.key = named(nn.Linear(WIDTH, WIDTH), f"l{i}.k")
        self.value = named(nn.Linear(WIDTH, WIDTH), f"l{i}.v")

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (part(x).view(b, s, HEADS, HEAD).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(HEAD)
        weights = torch.softmax(scores, -1)  #= softmax
        return torch.matmul(weights, v).transpose(1, 2).reshape(b, s, WIDTH)


class BertSelfOutput(nn.Module):
    def __init__(self, i, inner, label, norm):
        super().__init__()
        self.dense = named(nn.Linear(inner, WIDTH), f"l{i}.{label}")
        self.LayerNorm = named(nn.LayerNorm(WIDTH), f"l{i}.{norm}")
        self.dropout = nn.Dropout(0.0)

    def forward(self, y, x):
        return self.LayerNorm(self.dropout(self.dense(y)) + x)


class BertAttention(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.self = BertSelfAttention(i)
        self.output = BertSelfOutput(i, WIDTH, "o", "ln1")

    def forward(self, x):
        return self.output(self.self(x), x)


class BertIntermediate(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.dense = named(nn.Linear(WIDTH, INNER), f"l{i}.up")

    def forward(self, x):
        return F.gelu(self.dense(x))


class BertLayer(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.attention = BertAttention(i)
        self.intermediate = BertIntermediate(i)
        self.output = BertSelfOutput(i, INNER, "down", "ln2")

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class BertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = named(nn.Embedding(WORDS, WIDTH), "words")
        self.position_embeddings = named(nn.Embedding(LENGTH, WIDTH), "positions")
        self.LayerNorm = named(nn.LayerNorm(WIDTH), "first_norm")

    def forward(self, ids):
        x = self.word_embeddings(ids) + self.position_embeddings(torch.arange(ids.shape[1]))  #= embedded
        return self.LayerNorm(x)


class BertModel(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embeddings = BertEmbeddings()
        self.layer = nn.ModuleList(named(BertLayer(i), f"l{i}") for i in range(layers))
        self.decoder = named(nn.Linear(WIDTH, WORDS), "head")

    def forward(self, ids):
        x = self.embeddings(ids)
        for layer in self.layer:
            x = layer(x)
        return self.decoder(x)


class PostNormLayer(nn.Module):
    """The same layer without modules in between, everything fused that can be."""

    def __init__(self, i):
        super().__init__()
        self.qkv = named(ColumnParallelLinear(WIDTH, 3 * WIDTH), f"l{i}.q+l{i}.k+l{i}.v")
        self.dense = named(RowParallelLinear(WIDTH, WIDTH), f"l{i}.o")
        self.norm_1 = named(nn.LayerNorm(WIDTH), f"l{i}.ln1")
        self.fc1 = named(ColumnParallelLinear(WIDTH, INNER), f"l{i}.up")
        self.fc2 = named(RowParallelLinear(INNER, WIDTH), f"l{i}.down")
        self.norm_2 = named(nn.LayerNorm(WIDTH), f"l{i}.ln2")

    def forward(self, x):
        s, b, _ = x.shape
        mixed, _ = self.qkv(x)
        q, k, v = (t.reshape(s, b * HEADS, HEAD).transpose(0, 1) for t in mixed.chunk(3, -1))
        weights = F.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(HEAD), -1)  #= softmax
        y, _ = self.dense(torch.bmm(weights, v).transpose(0, 1).reshape(s, b, WIDTH))
        x = self.norm_1(x + y)
        y, _ = self.fc2(F.gelu(self.fc1(x)[0]))
        return self.norm_2(x + y)


class EncoderModel(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.words = named(nn.Embedding(WORDS, WIDTH), "words")
        self.positions = named(nn.Embedding(LENGTH, WIDTH), "positions")
        self.norm = named(nn.LayerNorm(WIDTH), "first_norm")
        self.blocks = nn.ModuleList(named(PostNormLayer(i), f"l{i}") for i in range(layers))
        self.out = named(ColumnParallelLinear(WIDTH, WORDS), "head")

    def forward(self, ids):
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1]))  #= embedded
        x = self.norm(x).transpose(0, 1)
        for block in self.blocks:
            x = block(x)
        return self.out(x)[0].transpose(0, 1)


class Expert(nn.Module):
    def __init__(self, i, e, linear=nn.Linear):
        super().__init__()
        self.w1 = named(linear(WIDTH, INNER, bias=False), f"l{i}.e{e}.up")
        self.w2 = named(linear(INNER, WIDTH, bias=False), f"l{i}.e{e}.down")

    def forward(self, x):
        y = self.w1(x)
        y = F.silu(y[0] if isinstance(y, tuple) else y)
        y = self.w2(y)
        return y[0] if isinstance(y, tuple) else y


class MLPExpert(Expert):
    def __init__(self, i, e):
        super().__init__(i, e, ColumnParallelLinear)


class SparseMoeBlock(nn.Module):
    expert = Expert

    def __init__(self, i):
        super().__init__()
        self.gate = named(nn.Linear(WIDTH, EXPERTS, bias=False), f"l{i}.router")
        self.experts = nn.ModuleList(named(self.expert(i, e), f"l{i}.e{e}") for e in range(EXPERTS))

    def forward(self, x):
        shares = F.softmax(self.gate(x), -1)  #= shares
        return sum(shares[..., e:e + 1] * expert(x) for e, expert in enumerate(self.experts))


class MoELayer(SparseMoeBlock):
    expert = MLPExpert

    def forward(self, x):
        return super().forward(x.transpose(0, 1)).transpose(0, 1)


class MoeModel(nn.Module):
    block, holder = SparseMoeBlock, "layers"

    def __init__(self, layers=2):
        super().__init__()
        self.embed = named(nn.Embedding(WORDS, WIDTH), "words")
        self.norms = nn.ModuleList(named(nn.LayerNorm(WIDTH), f"l{i}.ln") for i in range(layers))
        setattr(self, self.holder, nn.ModuleList(named(self.block(i), f"l{i}") for i in range(layers)))
        self.head = named(nn.Linear(WIDTH, WORDS, bias=False), "head")

    def forward(self, ids):
        x = self.embed(ids)
        for norm, block in zip(self.norms, getattr(self, self.holder)):
            x = x + block(norm(x))
        return self.head(x)


class MegatronMoeModel(MoeModel):
    block, holder = MoELayer, "blocks"
