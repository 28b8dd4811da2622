"""Collects one training step of a residual network, with its tensors: python examples/pytorch/resnet.py DIR"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

from msprobe.pytorch import PrecisionDebugger, seed_all


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + x)


def main(directory):
    seed_all(1234)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), Block(8), Block(8),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
    root = pathlib.Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    config = root / "config.json"
    config.write_text(json.dumps({
        "task": "tensor", "dump_path": str(root / "dump"), "level": "L0",
        "tensor": {"list": ["Block", "Linear"], "max_bytes": 50_000_000},
    }))
    debugger = PrecisionDebugger(config_path=str(config))
    with debugger.collect(model):
        F.cross_entropy(model(torch.randn(4, 3, 16, 16)), torch.randint(0, 10, (4,))).backward()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "resnet_dump")
