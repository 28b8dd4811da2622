"""Collects from a MindSpore program: python mindspore_cells.py writes ./output."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn

from msprobe.mindspore import PrecisionDebugger, seed_all

seed_all(mode=True)
debugger = PrecisionDebugger(dump_path="./output", task="statistics", level="mix")


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x):
        return x + self.down(mint.nn.functional.relu(self.up(x)))


net = nn.SequentialCell(Block(8), Block(8), nn.Dense(8, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
step = ms.value_and_grad(lambda x: mint.mean(net(x) ** 2), None, net.trainable_params())

for number in range(2):
    inputs = Tensor(np.random.RandomState(number).randn(4, 8).astype(np.float32))
    debugger.start(model=net)
    loss, gradients = step(inputs)
    optimizer(gradients)
    debugger.stop()
    debugger.step()
    print(f"step {number}: loss {loss.asnumpy():.6f}")
