"""Records a small model of cells: `python cell_dump.py DIRECTORY [fault]`."""

import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn

from conftest import write_config
from msprobe.mindspore import PrecisionDebugger

net = nn.SequentialCell(nn.SequentialCell(nn.Dense(8, 8), nn.ReLU()), nn.Dense(8, 4))
rng = np.random.RandomState(0)
for parameter in net.get_parameters():
    parameter.set_data(Tensor(rng.randn(*parameter.shape).astype(np.float32)))
if "fault" in sys.argv:
    inner = net[0]
    right = inner.construct
    inner.construct = lambda x: right(x) * 1.5
x = Tensor(rng.randn(3, 8).astype(np.float32))
step = ms.value_and_grad(lambda data: mint.mean(net(data)), 0, net.trainable_params())
debugger = PrecisionDebugger(config_path=write_config(sys.argv[1], level="mix"))
debugger.start(net, rank_id=0)
step(x)
debugger.stop()
debugger.step()
PrecisionDebugger._forget()
sys.stdout.flush()
os._exit(0)
