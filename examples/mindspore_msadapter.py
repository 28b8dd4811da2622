"""Collects from a PyTorch program on MindSpore (MSAdapter), with config.json beside it.

The comments say what the lines of msprobe do; all else is the program.
"""

import mindspore as ms
import torch
import torch.nn as nn
import torch.nn.functional as F

# After torch, so that msprobe sees whose torch it is.
from msprobe.mindspore import PrecisionDebugger, seed_all

# Before anything is initialised.
seed_all()
debugger = PrecisionDebugger(config_path="./config.json")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear1 = nn.Linear(in_features=8, out_features=4)
        self.linear2 = nn.Linear(in_features=4, out_features=2)

    def forward(self, x):
        return F.relu(self.linear2(self.linear1(x)))


net = Net()


def train_step(inputs):
    return net(inputs)


if __name__ == "__main__":
    data = (torch.randn(10, 8), torch.randn(10, 8), torch.randn(10, 8))
    grad_fn = ms.value_and_grad(train_step, grad_position=0)

    for inputs in data:
        debugger.start(model=net)  # records from here on

        out, grad = grad_fn(inputs)

        debugger.stop()
        debugger.step()  # the step is complete: it is written to output/step<N>
