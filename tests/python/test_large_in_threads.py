"""Large tensors are read without the GIL: what other threads record meanwhile is not mixed in."""

import threading

import torch
from torch import nn

from conftest import PrecisionDebugger, read_dump

LARGE = (3000, 1024)  # 12 MB
CALLS = 20


def _is(tensor, shape, value):
    return (tensor["shape"] == list(shape) and tensor["Max"] == tensor["Min"] == value
            and tensor["Mean"] == value)


def test_calls(debugger, tmp_path):
    large, small, deep = torch.full(LARGE, 7.0), torch.full((4,), 2.0), torch.full((2, 3, 5), 3.0)
    done = threading.Event()

    def others():
        while not done.is_set():
            torch.sin(small)
            torch.abs(deep)

    d = debugger(level="L1")
    d.start()
    threads = [threading.Thread(target=others) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(CALLS):
        torch.relu(large)
    done.set()
    for thread in threads:
        thread.join()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    expected = {"relu": (LARGE, 7.0), "sin": ((4,), 2.0), "abs": ((2, 3, 5), 3.0)}
    data = read_dump(tmp_path / "dump").data
    assert len(data) > 3 * CALLS
    for name, entry in data.items():
        (tensor,) = entry["input_args"]
        assert _is(tensor, *expected[name.split(".")[1]]), (name, tensor)


class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


def test_gradients(debugger, tmp_path):
    models = nn.ModuleList([Scale(float(k)) for k in (2, 3)])
    shapes = (LARGE, (5, 4))

    def train(k):
        for _ in range(CALLS):
            x = torch.ones(shapes[k], requires_grad=True)
            models[k](x).sum().backward()

    d = debugger(level="L0")
    d.start(models)
    threads = [threading.Thread(target=train, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    data = {name: entry for name, entry in read_dump(tmp_path / "dump").data.items()
            if ".backward." in name}
    assert len(data) == 2 * CALLS
    for name, entry in data.items():
        k = int(name.split(".")[1])
        assert _is(entry["input"][0], shapes[k], 1.0), (name, entry)
        assert _is(entry["output"][0], shapes[k], models[k].factor), (name, entry)
