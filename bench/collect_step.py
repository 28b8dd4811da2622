"""One measured run of a collector in a process of its own: plain steps, then steps that are recorded.

usage: collect_step.py CASE.json RESULT.json   (what CASE holds: see bench_collect.py)
Works with every package that offers msprobe.pytorch.PrecisionDebugger. Models: a GPT of 4 blocks, an MLP
of 50 layers, ResNet18, and a step of many small calls.
"""

import collections
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        batch, length, width = x.shape
        each = width // self.heads
        q, k, v = (part.view(batch, length, self.heads, each).transpose(1, 2)
                   for part in self.qkv(x).split(width, -1))
        scores = (q @ k.transpose(-2, -1)) * each ** -0.5
        allowed = torch.tril(torch.ones(length, length, dtype=torch.bool))
        scores = scores.masked_fill(~allowed, float("-inf"))
        weights = self.drop(functional.softmax(scores, -1))
        return self.proj((weights @ v).transpose(1, 2).contiguous().view(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.ln1, self.attn, self.ln2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.fc1, self.act, self.fc2 = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.fc2(self.act(self.fc1(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, layers: int = 4, width: int = 128, heads: int = 4, words: int = 256, length: int = 64):
        super().__init__()
        self.tok, self.pos = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


class Mlp(nn.Module):
    def __init__(self, layers: int = 50, width: int = 32):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x)) + x * 0.5
        return x


def make(name: str):
    """(model, function that gives the loss)"""
    if name == "gpt":
        model = Gpt()
        ids, target = torch.randint(0, 256, (2, 64)), torch.randint(0, 256, (2, 64))
        return model, lambda: functional.cross_entropy(model(ids).view(-1, 256), target.view(-1))
    if name == "mlp":
        model, x = Mlp(), torch.randn(8, 32)
        return model, lambda: (model(x) ** 2).mean()
    import torchvision

    model, x = torchvision.models.resnet18(), torch.randn(8, 3, 224, 224)
    target = torch.randint(0, 1000, (8,))
    return model, lambda: functional.cross_entropy(model(x), target)


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(function) -> list:
    """Seconds: by the clock, of this thread's CPU, of the process's CPU."""
    start = time.perf_counter(), time.thread_time(), time.process_time()
    function()
    end = time.perf_counter(), time.thread_time(), time.process_time()
    return [b - a for a, b in zip(start, end)]


def measure_steps(case: dict, result: dict) -> None:
    model, loss = make(case["model"])
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(2):
        step()
    result["plain"] = [timed(step) for _ in range(case["steps"])]
    debugger = construct(case, result)

    def recorded():
        debugger.start(model=model)
        step()
        debugger.stop()
        debugger.step()

    def empty():
        debugger.start(model=model)
        debugger.stop()
        debugger.step()

    recorded()
    result["recorded"] = []
    for _ in range(case["steps"]):
        result["recorded"].append(timed(recorded))
        if case.get("alternate"):  # the machine's own ups and downs meet both
            result["plain"].append(timed(step))
    if case.get("empty"):
        result["empty"] = [timed(empty) for _ in range(case["steps"])]


def measure_calls(case: dict, result: dict) -> None:
    """Seconds for each thousand of many small calls in one step."""
    x = torch.ones(4)

    def thousand():
        for _ in range(1000):
            torch.add(x, x)

    thousand()
    result["plain"] = [timed(thousand) for _ in range(case["thousands"])]
    debugger = construct(case, result)
    debugger.start()
    result["recorded"] = [timed(thousand) for _ in range(case["thousands"])]
    debugger.stop()
    result["end"] = timed(debugger.step)


def measure_hooks(case: dict, result: dict) -> None:
    """Backward with a hook in C that does nothing on every node that autograd has made, and without."""
    model, loss = make(case["model"])
    model.train()
    ignore = collections.deque(maxlen=0).append
    result["plain"], result["recorded"] = [], []
    for number in range(2 * case["steps"] + 2):
        value = loss()
        nodes = graph(value.grad_fn)  # in both turns: looking at the nodes brings them into the cache
        hooked = number % 2 == 1
        for node in nodes if hooked else []:
            node.register_prehook(ignore)
        seconds = timed(value.backward)
        model.zero_grad()
        if number >= 2:  # the first ones find memory and kernels
            result["recorded" if hooked else "plain"].append(seconds)
    result["nodes"] = len(nodes)


def graph(root) -> list:
    nodes, seen = [root], {root}
    for node in nodes:
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                nodes.append(below)
    return nodes


def construct(case: dict, result: dict):
    before = resident()
    start = time.perf_counter()
    from msprobe.pytorch import PrecisionDebugger

    result["import"] = time.perf_counter() - start
    debugger = PrecisionDebugger(config_path=case["config"])
    result["memory"] = resident() - before
    return debugger


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        case = json.load(file)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    result: dict = {}
    measure = measure_calls if case["model"] == "calls" else measure_hooks if case.get("hooks") else measure_steps
    measure(case, result)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
