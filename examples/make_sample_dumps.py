#!/usr/bin/env python3
"""Make two small dumps of a toy transformer, the target with one fault in it.

usage: make_sample_dumps.py [DIRECTORY]        (default: the folder "sample" beside this file)

Writes DIRECTORY/{target,golden}/step0/rank0/{dump,stack,construct}.json: level mix, statistics.
The numbers come from a forward pass in plain Python. Both sides run the same model on the same
input; the golden side rounds a little differently, as another device does. The target forgets the
1/sqrt(d) scale of the attention scores in layer 1, so everything behind them differs as well:
`msprobe graph target golden` has to name that one place.
"""
import json
import math
import random
import sys
from pathlib import Path

TOKENS, WIDTH, HEADS, HIDDEN, VOCABULARY, LAYERS = 12, 32, 2, 64, 40, 2
HEAD = WIDTH // HEADS
FAULTY_LAYER = 1


def matmul(a, b):
    columns = list(zip(*b))
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def transpose(a):
    return [list(column) for column in zip(*a)]


def random_matrix(source, rows, columns):
    scale = 1.6 / math.sqrt(rows)
    return [[source.gauss(0, scale) for _ in range(columns)] for _ in range(rows)]


def flatten(value):
    if isinstance(value, list):
        for item in value:
            yield from flatten(item)
    else:
        yield value


def shape_of(value):
    return [len(value), *shape_of(value[0])] if isinstance(value, list) else []


def softmax(row):
    top = max(row)
    powers = [math.exp(x - top) for x in row]
    total = math.fsum(powers)
    return [p / total for p in powers]


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


class Recorder:
    """Collects the three files of one rank, with the names that a collection would give."""

    def __init__(self, noise):
        self.noise = noise
        self.data, self.construct, self.stacks = {}, {}, {}
        self.calls = {}
        self.parents = [None]
        self.lines = {}

    def round(self, value):
        """What a device with float32 arithmetic of its own order of additions would give."""
        if isinstance(value, list):
            return [self.round(item) for item in value]
        return value * (1 + self.noise.gauss(0, 2e-7))

    @staticmethod
    def tensor(value, grad=True):
        flat = [float(x) for x in flatten(value)]
        return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": shape_of(value),
                "Max": max(flat), "Min": min(flat), "Mean": math.fsum(flat) / len(flat),
                "Norm": math.sqrt(math.fsum(x * x for x in flat)), "requires_grad": grad}

    def record(self, name, inputs, output, parameters=None, scalars=()):
        entry = {"input_args": [self.tensor(x) for x in inputs] + list(scalars),
                 "input_kwargs": {}, "output": [self.tensor(output)]}
        if parameters:
            entry["parameters"] = {key: self.tensor(value) for key, value in parameters.items()}
        self.data[name] = entry

    def frame(self, name, line):
        self.stacks[name] = [
            f"File /home/user/toy/model.py, line {line[0]}, in forward, \n {line[1]}",
            "File /home/user/toy/train.py, line 31, in <module>, \n logits = model(tokens)"]

    def api(self, kind, inputs, output, line, scalars=()):
        number = self.calls.get(kind, 0)
        self.calls[kind] = number + 1
        name = f"{kind}.{number}.forward"
        self.construct[name] = self.parents[-1]
        output = self.round(output)
        self.record(name, inputs, output, scalars=scalars)
        self.frame(name, line)
        return output

    def module(self, path, class_name, inputs, body, line, parameters=None):
        name = f"Module.{path}.{class_name}.forward.0"
        self.construct[name] = self.parents[-1]
        self.frame(name, line)
        self.parents.append(name)
        output = body()
        self.parents.pop()
        self.record(name, inputs, output, parameters)
        return output

    def write(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        dump = {"task": "statistics", "level": "mix", "framework": "pytorch",
                "dump_data_dir": None, "data": self.data}
        groups = {}
        for name, frames in self.stacks.items():
            groups.setdefault(tuple(frames), []).append(name)
        stack = {str(k): [names, list(frames)] for k, (frames, names) in enumerate(groups.items())}
        for file, content in (("dump.json", dump), ("stack.json", stack),
                              ("construct.json", self.construct)):
            (directory / file).write_text(json.dumps(content, indent=1) + "\n")


class Toy:
    """Embedding, LAYERS × (norm, attention, norm, mlp), norm, head."""

    def __init__(self, recorder, weights, faulty):
        self.r, self.w, self.faulty = recorder, weights, faulty

    def linear(self, path, x, line):
        weight = self.w[path]
        return self.r.module(
            path, "Linear", [x],
            lambda: self.r.api("Functional.linear", [x, weight], matmul(x, transpose(weight)),
                               (114, "return F.linear(input, self.weight)")),
            line, {"weight": weight})

    def norm(self, path, x, line):
        gain, bias = self.w[path]

        def body():
            rows = []
            for row in x:
                mean = math.fsum(row) / len(row)
                spread = math.fsum((v - mean) ** 2 for v in row) / len(row)
                scale = 1 / math.sqrt(spread + 1e-5)
                rows.append([(v - mean) * scale * g + b for v, g, b in zip(row, gain, bias)])
            return self.r.api("Functional.layer_norm", [x, gain, bias], rows,
                              (190, "return F.layer_norm(input, self.normalized_shape, ...)"))
        return self.r.module(path, "LayerNorm", [x], body, line, {"weight": gain, "bias": bias})

    def attention(self, layer, x):
        path = f"layers.{layer}.attention"

        def heads(value):
            return [[row[h * HEAD:(h + 1) * HEAD] for row in value] for h in range(HEADS)]

        def body():
            query = heads(self.linear(path + ".query", x, (41, "q = self.query(x)")))
            key = heads(self.linear(path + ".key", x, (42, "k = self.key(x)")))
            value = heads(self.linear(path + ".value", x, (43, "v = self.value(x)")))
            keys = [transpose(k) for k in key]
            scores = self.r.api("Torch.matmul", [query, keys],
                                [matmul(q, k) for q, k in zip(query, keys)],
                                (45, "scores = torch.matmul(q, k.transpose(-2, -1))"))
            scale = 1.0 if layer == self.faulty else 1 / math.sqrt(HEAD)
            scaled = self.r.api("Tensor.mul", [scores],
                                [[[s * scale for s in row] for row in head] for head in scores],
                                (46, "scores = scores.mul(self.scale)"))
            weights = self.r.api("Functional.softmax", [scaled],
                                 [[softmax(row) for row in head] for head in scaled],
                                 (47, "weights = F.softmax(scores, dim=-1)"),
                                 [{"type": "int", "value": -1}])
            mixed = self.r.api("Torch.matmul", [weights, value],
                               [matmul(w, v) for w, v in zip(weights, value)],
                               (48, "mixed = torch.matmul(weights, v)"))
            joined = [[v for head in mixed for v in head[t]] for t in range(TOKENS)]
            return self.linear(path + ".out", joined, (49, "return self.out(mixed)"))
        return self.r.module(path, "Attention", [x], body, (72, "a = self.attention(h)"))

    def mlp(self, layer, x):
        path = f"layers.{layer}.mlp"

        def body():
            up = self.linear(path + ".up", x, (58, "h = self.up(x)"))
            act = self.r.api("Functional.gelu", [up], [[gelu(v) for v in row] for row in up],
                             (59, "h = F.gelu(h)"))
            return self.linear(path + ".down", act, (60, "return self.down(h)"))
        return self.r.module(path, "MLP", [x], body, (74, "m = self.mlp(h)"))

    def add(self, a, b, line):
        return self.r.api("Tensor.__add__", [a, b],
                          [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)], line)

    def block(self, layer, x):
        def body():
            normed = self.norm(f"layers.{layer}.norm1", x, (71, "h = self.norm1(x)"))
            after = self.add(x, self.attention(layer, normed), (72, "x = x + a"))
            normed2 = self.norm(f"layers.{layer}.norm2", after, (73, "h = self.norm2(x)"))
            return self.add(after, self.mlp(layer, normed2), (75, "return x + m"))
        return self.r.module(f"layers.{layer}", "Block", [x], body, (92, "x = block(x)"))

    def forward(self, tokens):
        table = self.w["embedding"]

        def body():
            x = self.r.module(
                "embedding", "Embedding", [tokens],
                lambda: self.r.api("Functional.embedding", [tokens, table],
                                   [table[t] for t in tokens],
                                   (160, "return F.embedding(input, self.weight)")),
                (90, "x = self.embedding(tokens)"), {"weight": table})
            for layer in range(LAYERS):
                x = self.block(layer, x)
            x = self.norm("norm", x, (93, "x = self.norm(x)"))
            return self.linear("head", x, (94, "return self.head(x)"))
        return self.r.module("model", "Toy", [tokens], body, (31, "logits = model(tokens)"))


def make_weights():
    source = random.Random(1)
    weights = {"embedding": [[source.gauss(0, 1) for _ in range(WIDTH)]
                             for _ in range(VOCABULARY)],
               "head": random_matrix(source, VOCABULARY, WIDTH)}
    norms = ["norm"] + [f"layers.{layer}.norm{k}" for layer in range(LAYERS) for k in (1, 2)]
    for name in norms:
        weights[name] = ([source.gauss(1, 0.1) for _ in range(WIDTH)],
                         [source.gauss(0.05, 0.1) for _ in range(WIDTH)])
    for layer in range(LAYERS):
        for name in ("query", "key", "value", "out"):
            weights[f"layers.{layer}.attention.{name}"] = random_matrix(source, WIDTH, WIDTH)
        weights[f"layers.{layer}.mlp.up"] = random_matrix(source, HIDDEN, WIDTH)
        weights[f"layers.{layer}.mlp.down"] = random_matrix(source, WIDTH, HIDDEN)
    return weights


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "sample"
    weights = make_weights()
    tokens = random.Random(2).sample(range(VOCABULARY), TOKENS)
    for side, seed, faulty in (("target", 3, FAULTY_LAYER), ("golden", 4, None)):
        recorder = Recorder(random.Random(seed))
        Toy(recorder, weights, faulty).forward(tokens)
        recorder.write(root / side / "step0" / "rank0")


if __name__ == "__main__":
    main()
