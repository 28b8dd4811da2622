"""Collects the calls 1 to 2 of a model that generates words: python examples/pytorch/inference.py DIR"""

import sys

import torch

from msprobe.pytorch import PrecisionDebugger, seed_all

from gpt import Gpt


def main(directory):
    seed_all(1234)
    model = Gpt().eval()
    ids = torch.randint(0, 256, (1, 4))
    debugger = PrecisionDebugger(dump_path=directory, level="L0")
    with torch.no_grad(), debugger.collect(model, token_range=(1, 2)):
        for _ in range(4):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inference_dump")
