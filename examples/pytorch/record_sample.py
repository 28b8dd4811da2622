"""Records the dumps that `./dev demo` compares: python examples/pytorch/record_sample.py [DIRECTORY]

A small GPT learns for some steps. Its next step is then recorded twice, from the same weights and
the same words: as it is (golden), and as a port that forgets the scale of the attention scores in
one layer (target). The port computes without oneDNN, so its roundings are other ones, too.
"""

import json
import pathlib
import shutil
import sys
import sysconfig

import torch
import torch.nn.functional as F
from torch import nn

from msprobe.pytorch import PrecisionDebugger, seed_all

LAYERS, HEADS, WIDTH, WORDS, TOKENS = 2, 2, 32, 48, 12
LEARNING_STEPS = 30
FAULTY_LAYER = 1
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.scale = (WIDTH // HEADS) ** -0.5

    def forward(self, x, mask):
        q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-2, -1))
        scores = scores.mul(self.scale)
        weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        return self.out(torch.matmul(weights, v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


def gradients(model):
    """Of words each of which follows from the one before; gives the loss."""
    ids = torch.randint(0, WORDS, (4, 1)) * 5 ** torch.arange(TOKENS + 1) % WORDS
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    return loss.item()


def learn(model):
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(LEARNING_STEPS):
        loss = gradients(model)
        if step == 0:
            print(f"loss {loss:.3f}", end=" ")
        optimizer.step()
        optimizer.zero_grad()
    print(f"to {loss:.3f} in {LEARNING_STEPS} steps")


def record(directory, is_port):
    seed_all(1234)
    model = Gpt()
    learn(model)
    torch.backends.mkldnn.set_flags(not is_port)
    if is_port:
        model.layers[FAULTY_LAYER].attention.scale = 1.0
    shutil.rmtree(directory, ignore_errors=True)
    config = {"task": "statistics", "level": "mix", "dump_path": str(directory),
              "statistics": {"tensor_list": ["Functional.softmax"]}}
    file = directory.with_suffix(".json")
    file.write_text(json.dumps(config))
    debugger = PrecisionDebugger(config_path=str(file))
    debugger.start(model, rank_id=0)
    gradients(model)
    debugger.stop()
    debugger.step()
    PrecisionDebugger._forget()  # so that this process can record once more
    file.unlink()
    without_paths_of_this_machine(directory / "step0" / "rank0" / "stack.json")


def without_paths_of_this_machine(stack):
    text = stack.read_text()
    for path, shown in ((sysconfig.get_paths()["purelib"], "site-packages/"), (ROOT, "")):
        text = text.replace(f"File {path}/", f"File {shown}")
    stack.write_text(text)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "examples/sample").resolve()
    root.mkdir(parents=True, exist_ok=True)
    for side in ("golden", "target"):
        record(root / side, is_port=side == "target")


if __name__ == "__main__":
    main()
