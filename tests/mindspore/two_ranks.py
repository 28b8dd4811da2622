"""One rank of two, `python two_ranks.py DIRECTORY`; the environment says which: see test_processes.py.

On the CPU MindSpore has AllReduce as an operator; its functions for collectives need Ascend.
"""

import os
import sys

import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init

from msprobe.mindspore import PrecisionDebugger


class Reduce(nn.Cell):
    def __init__(self):
        super().__init__()
        self.all_reduce = ops.AllReduce()

    def construct(self, x):
        return self.all_reduce(x)


init()
net = nn.SequentialCell(Reduce())
debugger = PrecisionDebugger(dump_path=sys.argv[1], task="tensor", level="mix")
debugger.start(net)
net(Tensor(np.full(4, get_rank() + 1, np.float32)))
debugger.stop()
debugger.step()
PrecisionDebugger._forget()
sys.stdout.flush()
os._exit(0)
