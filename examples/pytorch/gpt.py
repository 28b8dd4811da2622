"""Collects two training steps of a small GPT at level mix: python examples/pytorch/gpt.py DIR"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

from msprobe.pytorch import PrecisionDebugger, seed_all


class Gpt(nn.Module):
    def __init__(self, layers=2, width=64, heads=4, words=256):
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.encoder(self.words(ids), mask))


def main(directory):
    seed_all(1234)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    debugger = PrecisionDebugger(dump_path=directory, level="mix", step=[0, 1])
    for _ in range(2):
        ids = torch.randint(0, 256, (2, 16))
        with debugger.collect(model):
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gpt_dump")
