"""One small model for both frameworks: torch is PyTorch, or MindSpore's where that was imported first.

With PyTorch: `python cross_model.py DIRECTORY` records it with msprobe.pytorch.
"""

import json
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block(), Block())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.blocks(x))


def make_net():
    net = Net()
    rng = np.random.RandomState(5)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.tensor(rng.randn(*parameter.shape).astype(np.float32) / 3))
    return net


def make_input():
    return torch.tensor(np.random.RandomState(6).randn(5, 8).astype(np.float32))


def configure(directory, level="mix"):
    config = {"task": "statistics", "level": level, "dump_path": f"{directory}/dump",
              "extra_info": True, "statistics": {"summary_mode": "statistics"}}
    with open(f"{directory}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    return f"{directory}/config.json"


if __name__ == "__main__":
    from msprobe.pytorch import PrecisionDebugger

    debugger = PrecisionDebugger(config_path=configure(sys.argv[1]))
    model, x = make_net(), make_input().requires_grad_()
    debugger.start(model, rank_id=0)
    model(x).pow(2).mean().backward()
    debugger.stop()
    debugger.step()
