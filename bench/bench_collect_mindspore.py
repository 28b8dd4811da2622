"""What a recorded training step costs under MindSpore and under MSAdapter.

`bench_collect_mindspore.py` measures all cases, each in a process of its own, and prints a table;
with an API, a level and a task it measures that one. Needs an idle machine and .venv-mindspore.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-mindspore" / "bin" / "python"
CASES = [("mindspore", "L0", "statistics"), ("mindspore", "L1", "statistics"),
         ("mindspore", "mix", "tensor"), ("msadapter", "L0", "statistics"),
         ("msadapter", "L1", "statistics")]
WIDTH, BATCH, BLOCKS, STEPS = 256, 32, 8, 15


def cells():
    from mindspore import Tensor, mint, nn

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up, self.act, self.down = nn.Dense(WIDTH, WIDTH), nn.ReLU(), nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            return x + self.down(self.act(self.up(x)))

    net = nn.SequentialCell(*[Block() for _ in range(BLOCKS)], nn.Dense(WIDTH, 10))
    root = nn.SequentialCell(net)
    return root, tuple(root.trainable_params()), lambda x: mint.mean(root(x)), Tensor


def modules():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.act, self.down = nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            return x + self.down(self.act(self.up(x)))

    net = nn.Sequential(nn.Sequential(*[Block() for _ in range(BLOCKS)], nn.Linear(WIDTH, 10)))
    return net, tuple(net.parameters()), lambda x: torch.mean(net(x)), torch.tensor


def measure(api, level, task):
    import numpy as np

    if api == "msadapter":
        sys.path.insert(0, str(ROOT / "tests" / "mindspore"))
        import msadapter_cpu_env  # noqa: F401
    import mindspore as ms

    net, parameters, forward, tensor = cells() if api == "mindspore" else modules()
    from msprobe.mindspore import PrecisionDebugger

    x = tensor(np.random.RandomState(0).randn(BATCH, WIDTH).astype(np.float32))
    step = ms.value_and_grad(forward, None, parameters)

    def run():
        value, gradients = step(x)
        value.asnumpy()
        for gradient in gradients:
            gradient.asnumpy()

    def seconds(function):
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    for _ in range(5):
        run()
    plain = [seconds(run) for _ in range(STEPS)]
    with tempfile.TemporaryDirectory() as directory:
        debugger = PrecisionDebugger(dump_path=f"{directory}/dump", task=task, level=level)

        def recorded():
            with debugger.collect(net):
                run()

        dumped = [seconds(recorded) for _ in range(STEPS)][1:]
        PrecisionDebugger._forget()
    print("RESULT", json.dumps({"api": api, "level": level, "task": task,
                                "plain_ms": round(1e3 * statistics.median(plain), 1),
                                "dumped_ms": round(1e3 * statistics.median(dumped), 1)}))
    sys.stdout.flush()
    os._exit(0)  # MindSpore has been seen to hang when its process ends


def main():
    if len(sys.argv) > 1:
        measure(*sys.argv[1:4])
    print("| API | level | task | plain ms | dumped ms |\n|---|---|---|---|---|")
    for case in CASES:
        done = subprocess.run(["timeout", "-k", "5", "300", str(PYTHON), __file__, *case],
                              capture_output=True, text=True, check=False)
        found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        if not found:
            raise SystemExit(done.stdout + done.stderr)
        result = json.loads(found[0][7:])
        print("| " + " | ".join(str(value) for value in result.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
