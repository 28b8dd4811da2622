"""Records the small model under MSAdapter: `python cross_dump.py DIRECTORY [fault]`."""

import os
import sys

import msadapter_cpu_env  # noqa: F401
import mindspore as ms
import torch

from cross_model import configure, make_input, make_net
from msprobe.mindspore import PrecisionDebugger

debugger = PrecisionDebugger(config_path=configure(sys.argv[1]))
model = make_net()
if "fault" in sys.argv:
    down = model.blocks[1].down
    right = down.forward
    down.forward = lambda x: right(x) * 1.5
step = ms.value_and_grad(lambda x: model(x).pow(2).mean(), 0, tuple(model.parameters()))
debugger.start(model, rank_id=0)
step(make_input())
debugger.stop()
debugger.step()
PrecisionDebugger._forget()
sys.stdout.flush()
os._exit(0)
