"""The same toy networks written the way two stacks write them, for automatic matching.

A module's `label` and the mark `#= name` behind a line say what is the same thing on both sides; the
program under test sees neither. Labels: "l0.q"; a fused projection is "l0.q+l0.k+l0.v".
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, KV_HEADS, INNER, WORDS, LENGTH = 64, 4, 2, 160, 96, 12
HEAD = WIDTH // HEADS


def named(module: nn.Module, label: str) -> nn.Module:
    module.label = label
    return module


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)  #= turned
    return x * cos + turned * sin  #= turn


class LlamaRMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)  #= scale
        scale = torch.rsqrt(variance + 1e-6)  #= scale
        return self.weight * (x * scale)  #= scaled


class RMSNorm(LlamaRMSNorm):
    def forward(self, x):
        return self._norm(x.float()) * self.weight  #= scaled

    def _norm(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  #= scale
        return x * scale  #= scaled


class LlamaRotaryEmbedding(nn.Module):
    def forward(self, x):
        angle = torch.arange(LENGTH, dtype=torch.float32)[:, None] / 100.0 ** (torch.arange(0, HEAD, 2) / HEAD)
        angle = torch.cat((angle, angle), -1)
        return angle.cos(), angle.sin()


class LlamaAttention(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.q_proj = named(nn.Linear(WIDTH, HEADS * HEAD, bias=False), f"l{i}.q")
        self.k_proj = named(nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False), f"l{i}.k")
        self.v_proj = named(nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False), f"l{i}.v")
        self.o_proj = named(nn.Linear(HEADS * HEAD, WIDTH, bias=False), f"l{i}.o")

    def forward(self, x, cos, sin):
        b, s, _ = x.shape
        q = self.q_proj(x).view(b, s, HEADS, HEAD).transpose(1, 2)
        k = self.k_proj(x).view(b, s, KV_HEADS, HEAD).transpose(1, 2)
        v = self.v_proj(x).view(b, s, KV_HEADS, HEAD).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(HEAD)  #= scores
        mask = torch.full((s, s), -1e9).triu(1)
        weights = F.softmax(scores + mask, -1)  #= softmax
        out = torch.matmul(weights, v)  #= context
        return self.o_proj(out.transpose(1, 2).reshape(b, s, -1))


class LlamaMLP(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.gate_proj = named(nn.Linear(WIDTH, INNER, bias=False), f"l{i}.gate")
        self.up_proj = named(nn.Linear(WIDTH, INNER, bias=False), f"l{i}.up")
        self.down_proj = named(nn.Linear(INNER, WIDTH, bias=False), f"l{i}.down")
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))  #= gated


class LlamaDecoderLayer(nn.Module):
    def __init__(self, i, dropout=0.0):
        super().__init__()
        self.input_layernorm = named(LlamaRMSNorm(WIDTH), f"l{i}.ln1")
        self.self_attn = named(LlamaAttention(i), f"l{i}.attention")
        self.post_attention_layernorm = named(LlamaRMSNorm(WIDTH), f"l{i}.ln2")
        self.mlp = named(LlamaMLP(i), f"l{i}.mlp")
        self.extra_dropout = nn.Dropout(dropout) if dropout else None

    def forward(self, x, cos, sin):
        y = self.self_attn(self.input_layernorm(x), cos, sin)
        if self.extra_dropout is not None:
            y = self.extra_dropout(y)
        x = x + y  #= residual1
        return x + self.mlp(self.post_attention_layernorm(x))  #= residual2


class LlamaModel(nn.Module):
    def __init__(self, layers, dropout=0.0):
        super().__init__()
        self.embed_tokens = named(nn.Embedding(WORDS, WIDTH), "words")
        self.layers = nn.ModuleList(named(LlamaDecoderLayer(i, dropout), f"l{i}") for i in range(layers))
        self.norm = named(LlamaRMSNorm(WIDTH), "last_norm")
        self.rotary_emb = LlamaRotaryEmbedding()

    def forward(self, ids):
        x = self.embed_tokens(ids)
        cos, sin = self.rotary_emb(x)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class LlamaForCausalLM(nn.Module):
    def __init__(self, layers=2, dropout=0.0):
        super().__init__()
        self.label = "model"
        self.model = LlamaModel(layers, dropout)
        self.lm_head = named(nn.Linear(WIDTH, WORDS, bias=False), "head")

    def forward(self, ids):
        return self.lm_head(self.model(ids))


class ColumnParallelLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight, self.bias), None


class RowParallelLinear(ColumnParallelLinear):
    pass


class VocabParallelEmbedding(nn.Embedding):
    pass


class DotProductAttention(nn.Module):
    def __init__(self, causal=True):
        super().__init__()
        self.causal = causal
        self.attention_dropout = nn.Dropout(0.0)

    def forward(self, q, k, v):
        s, b, heads, _ = q.shape
        q, k, v = (t.permute(1, 2, 0, 3).reshape(b * heads, s, HEAD) for t in (q, k, v))
        scores = torch.bmm(q, k.transpose(1, 2)) * (1 / math.sqrt(HEAD))  #= scores
        scores = scores.view(b, heads, s, s)
        if self.causal:
            scores = scores.masked_fill(torch.ones(s, s, dtype=torch.bool).triu(1), -1e9)
        weights = self.attention_dropout(torch.softmax(scores, -1))  #= softmax
        out = torch.bmm(weights.view(b * heads, s, s), v)  #= context
        return out.view(b, heads, s, HEAD).permute(2, 0, 1, 3).reshape(s, b, heads * HEAD)


class SelfAttention(nn.Module):
    def __init__(self, i, kv_heads=KV_HEADS, bias=False, causal=True, rotary=True):
        super().__init__()
        self.kv, self.rotary = kv_heads, rotary
        fused = (HEADS + 2 * kv_heads) * HEAD
        self.core_attention = DotProductAttention(causal)
        self.linear_qkv = named(ColumnParallelLinear(WIDTH, fused, bias), f"l{i}.q+l{i}.k+l{i}.v")
        self.linear_proj = named(RowParallelLinear(HEADS * HEAD, WIDTH, bias), f"l{i}.o")

    def forward(self, x, cos, sin):
        s, b, _ = x.shape
        mixed, _ = self.linear_qkv(x)
        q, k, v = torch.split(mixed, [HEADS * HEAD, self.kv * HEAD, self.kv * HEAD], -1)
        q, k, v = (t.reshape(s, b, -1, HEAD) for t in (q, k, v))
        if self.rotary:
            cos, sin = cos[:, None, None], sin[:, None, None]
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.kv != HEADS:
            k, v = (t.repeat_interleave(HEADS // self.kv, 2) for t in (k, v))
        return self.linear_proj(self.core_attention(q, k, v))


class MLP(nn.Module):
    def __init__(self, i, gated=True, bias=False, inner=INNER):
        super().__init__()
        self.gated = gated
        label = f"l{i}.gate+l{i}.up" if gated else f"l{i}.up"
        self.linear_fc1 = named(ColumnParallelLinear(WIDTH, inner * (2 if gated else 1), bias), label)
        self.linear_fc2 = named(RowParallelLinear(inner, WIDTH, bias), f"l{i}.down")

    def forward(self, x):
        y, _ = self.linear_fc1(x)
        if self.gated:
            gate, up = torch.chunk(y, 2, -1)
            y = F.silu(gate) * up  #= gated
        else:
            y = F.gelu(y)  #= activation
        return self.linear_fc2(y)


class TransformerLayer(nn.Module):
    def __init__(self, i, norm=RMSNorm, gated=True, dropout=0.1, **attention):
        super().__init__()
        bias = attention.get("bias", False)
        self.input_layernorm = named(norm(WIDTH), f"l{i}.ln1")
        self.self_attention = named(SelfAttention(i, **attention), f"l{i}.attention")
        self.pre_mlp_layernorm = named(norm(WIDTH), f"l{i}.ln2")
        self.mlp = named(MLP(i, gated, bias), f"l{i}.mlp")
        self.dropout = dropout

    def forward(self, x, cos=None, sin=None):
        y, bias = self.self_attention(self.input_layernorm(x), cos, sin)
        x = x + F.dropout(y, self.dropout, training=False)  #= residual1
        y, bias = self.mlp(self.pre_mlp_layernorm(x))
        return x + F.dropout(y, self.dropout, training=False)  #= residual2


class LanguageModelEmbedding(nn.Module):
    def __init__(self, positions=False):
        super().__init__()
        self.word_embeddings = named(VocabParallelEmbedding(WORDS, WIDTH), "words")
        self.position_embeddings = named(nn.Embedding(LENGTH, WIDTH), "positions") if positions else None
        self.embedding_dropout = nn.Dropout(0.0)

    def forward(self, ids):
        x = self.word_embeddings(ids)
        if self.position_embeddings is not None:
            x = x + self.position_embeddings(torch.arange(ids.shape[1]))  #= embedded
        return self.embedding_dropout(x.transpose(0, 1).contiguous())


class TransformerBlock(nn.Module):
    def __init__(self, layers, norm, wrap, **layer):
        super().__init__()
        self.layers = nn.ModuleList(wrap(named(TransformerLayer(i, norm, **layer), f"l{i}")) for i in range(layers))
        self.final_layernorm = named(norm(WIDTH), "last_norm")

    def forward(self, x, cos=None, sin=None):
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.final_layernorm(x)


class GPTModel(nn.Module):
    def __init__(self, layers=2, norm=RMSNorm, rotary=True, wrap=lambda layer: layer, **layer):
        super().__init__()
        self.label = "model"
        self.embedding = LanguageModelEmbedding(positions=not rotary)
        self.rotary_pos_emb = LlamaRotaryEmbedding() if rotary else None
        self.decoder = TransformerBlock(layers, norm, wrap, rotary=rotary, **layer)
        self.output_layer = named(ColumnParallelLinear(WIDTH, WORDS, False), "head")

    def forward(self, ids):
        x = self.embedding(ids)
        cos, sin = self.rotary_pos_emb(x) if self.rotary_pos_emb else (None, None)
        x = self.decoder(x, cos, sin)
        logits, _ = self.output_layer(x)
        return logits.transpose(0, 1)


class Float16Module(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, ids):
        return self.module(ids)


class Conv1D(nn.Module):
    def __init__(self, out, into):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(into, out) * 0.02)
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class GPT2Attention(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.c_attn = named(Conv1D(3 * WIDTH, WIDTH), f"l{i}.q+l{i}.k+l{i}.v")
        self.c_proj = named(Conv1D(WIDTH, WIDTH), f"l{i}.o")
        self.resid_dropout = nn.Dropout(0.0)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (t.view(b, s, HEADS, HEAD).transpose(1, 2) for t in self.c_attn(x).split(WIDTH, 2))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(HEAD)  #= scores
        scores = torch.where(torch.ones(s, s, dtype=torch.bool).tril(), scores, torch.tensor(-1e9))
        weights = F.softmax(scores, -1)  #= softmax
        out = torch.matmul(weights, v)  #= context
        return self.resid_dropout(self.c_proj(out.transpose(1, 2).reshape(b, s, -1)))


class GPT2MLP(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.c_fc = named(Conv1D(INNER, WIDTH), f"l{i}.up")
        self.c_proj = named(Conv1D(WIDTH, INNER), f"l{i}.down")
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(self.c_proj(F.gelu(self.c_fc(x))))  #= activation


class GPT2Block(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.ln_1 = named(nn.LayerNorm(WIDTH), f"l{i}.ln1")
        self.attn = named(GPT2Attention(i), f"l{i}.attention")
        self.ln_2 = named(nn.LayerNorm(WIDTH), f"l{i}.ln2")
        self.mlp = named(GPT2MLP(i), f"l{i}.mlp")

    def forward(self, x):
        x = self.attn(self.ln_1(x)) + x  #= residual1
        return x + self.mlp(self.ln_2(x))  #= residual2


class GPT2Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.wte = named(nn.Embedding(WORDS, WIDTH), "words")
        self.wpe = named(nn.Embedding(LENGTH, WIDTH), "positions")
        self.drop = nn.Dropout(0.0)
        self.h = nn.ModuleList(named(GPT2Block(i), f"l{i}") for i in range(layers))
        self.ln_f = named(nn.LayerNorm(WIDTH), "last_norm")

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))  #= embedded
        x = self.drop(x)
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class GPT2LMHeadModel(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.label = "model"
        self.transformer = GPT2Model(layers)
        self.lm_head = named(nn.Linear(WIDTH, WORDS, bias=False), "head")

    def forward(self, ids):
        return self.lm_head(self.transformer(ids))
