"""What the Python blocks about MindSpore take for granted: a small cell, its data, a configuration."""
import json

import mindspore as ms
import numpy as np

ms.set_context(device_target="CPU", mode=ms.PYNATIVE_MODE)
net = ms.nn.SequentialCell(ms.nn.Dense(4, 8), ms.nn.ReLU(), ms.nn.Dense(8, 1))
dataset = [ms.Tensor(np.ones((3, 4), np.float32)) for _ in range(2)]
grad_fn = ms.value_and_grad(lambda data: net(data).sum(), None, net.trainable_params())
with open("config.json", "w", encoding="utf-8") as file:
    json.dump({"task": "statistics", "dump_path": "recorded", "rank": [], "step": [], "level": "mix"}, file)
