"""One rank of two, `python two_ranks.py DIRECTORY`; the environment says which: see test_processes.py.

On the CPU MindSpore has the operator ops.AllReduce and some functions of mint.distributed; the rest,
and all of communication.comm_func, needs Ascend.
"""

import os
import sys

import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init
from mindspore.mint import distributed

from msprobe.mindspore import PrecisionDebugger


class Reduce(nn.Cell):
    def __init__(self):
        super().__init__()
        self.all_reduce = ops.AllReduce()

    def construct(self, x):
        return self.all_reduce(x)


def tensor(value=None):
    return Tensor(np.full(4, get_rank() + 1 if value is None else value, np.float32))


def collectives():
    distributed.all_reduce(tensor())
    distributed.all_reduce(tensor(), async_op=True).wait()
    distributed.all_reduce(tensor(), async_op=True)  # nobody waits
    distributed.broadcast(tensor(), 1)
    distributed.all_gather([tensor(0), tensor(0)], tensor())
    distributed.gather(tensor(), [tensor(0), tensor(0)], 0)
    distributed.scatter(tensor(0), [tensor(5), tensor(6)], 0)
    distributed.barrier()


init()
net = nn.SequentialCell(Reduce())
debugger = PrecisionDebugger(dump_path=sys.argv[1], task="tensor", level="mix")
debugger.start(net)
net(tensor())
collectives()
debugger.stop()
debugger.step()
PrecisionDebugger._forget()
sys.stdout.flush()
os._exit(0)
