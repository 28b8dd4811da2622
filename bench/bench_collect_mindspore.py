"""What a recorded training step costs under MindSpore and MSAdapter, beside mindstudio-probe.

Each case and side is a process of its own, which measures steps without and with recording; the
added time is the difference. Plain steps are measured before the first recorded one as well: from
there on msprobe lets operators run in the calling thread, which plain steps gain from too.
mindstudio-probe needs `mint.norm` out of its way: MindSpore has no such kernel on the CPU. Needs
.venv-mindspore.
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
# API, level, task, what part of the other's added time is the aim
CASES = [("MindSpore", "L0", "statistics", 15), ("MindSpore", "L1", "statistics", 15),
         ("MindSpore", "mix", "tensor", 10), ("MSAdapter", "L0", "statistics", 10),
         ("MSAdapter", "L1", "statistics", 10)]
WIDTH, BATCH, BLOCKS, WARM, STEPS = 256, 32, 8, 10, 15


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


def measure(side, api, level, task):
    """Prints the medians of a step before, without and with recording, and of what it adds, on a side."""
    import numpy as np

    if api == "MSAdapter":
        sys.path.insert(0, str(ROOT / "tests" / "mindspore"))
        import msadapter_cpu_env  # noqa: F401
    import mindspore as ms
    from mindspore import mint

    if side == "peer" and hasattr(mint, "norm"):
        del mint.norm
    net, parameters, forward, tensor = cells() if api == "MindSpore" else modules()
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

    for _ in range(WARM):
        run()
    before = [seconds(run) for _ in range(STEPS)]
    with tempfile.TemporaryDirectory() as directory:
        config = pathlib.Path(directory) / "config.json"
        config.write_text(json.dumps({
            "task": task, "dump_path": f"{directory}/dump", "rank": [], "step": [], "level": level,
            task: {"scope": [], "list": [], "data_mode": ["all"]}}))
        debugger = PrecisionDebugger(config_path=str(config))

        def recorded():
            debugger.start(model=net)
            run()
            debugger.stop()
            debugger.step()

        recorded()  # imports, files, caches
        # In turn: the speed of a step changes by the minute, on both sides of the difference alike.
        pairs = [(seconds(run), seconds(recorded)) for _ in range(STEPS)]
        (found,) = pathlib.Path(directory).glob("dump/step0/*/dump.json")
        records = len(json.loads(found.read_text())["data"])
    print("RESULT", json.dumps([
        statistics.median(before), statistics.median(plain for plain, _ in pairs),
        statistics.median(dumped for _, dumped in pairs),
        statistics.median(dumped - plain for plain, dumped in pairs), records, pairs]))
    sys.stdout.flush()
    os._exit(0)  # MindSpore has been seen to hang when its process ends


def result_of(python, *case):
    import report

    done = subprocess.run(["timeout", "-k", "5", "300", str(python), __file__, *case],
                          capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not found:
        raise SystemExit(f"{python} {case} gave no result:\n{(done.stdout + done.stderr)[-3000:]}")
    *medians, pairs = json.loads(found[0][7:])
    report.keep(", ".join(case), {"plain, recorded": pairs})
    return medians


def main():
    import peers
    import report

    pythons = {"ours": ROOT / ".venv-mindspore" / "bin" / "python"}
    for version in peers.available("26.2.0-mindspore"):
        pythons["peer"] = peers.environment(version) / "bin" / "python"
    rows = []
    for api, level, task, aim in CASES:
        sides = {side: result_of(python, side, api, level, task) for side, python in pythons.items()}
        steps = {side: " → ".join(report.seconds(median) for median in found[:3]) for side, found in sides.items()}
        *_, added, records = sides["ours"]
        beside = ["–", "–", f"{records}"]
        if "peer" in sides:
            *_, added_peer, records_peer = sides["peer"]
            ratio = f"1/{added_peer / added:.1f}" if added > 0 else "within the noise"
            beside = [report.seconds(added_peer), ratio, f"{records} / {records_peer}"]
        rows.append([f"{api} {level} {task}", steps["ours"], steps.get("peer", "–"), report.seconds(added), beside[0],
                     beside[1], f"1/{aim}", beside[2]])
        print(rows[-1], file=sys.stderr, flush=True)
    report.write_section(
        "collect-mindspore", "Collecting under MindSpore and MSAdapter",
        f"One training step, forward and backward, of {BLOCKS} residual blocks of two "
        f"{WIDTH}-wide layers, batch {BATCH}, MindSpore 2.7.0 on the CPU; medians of {STEPS} steps "
        f"before anything is recorded, after {WARM} others, then of {STEPS} plain and recorded steps in "
        "turn, whose difference is what is added. From the first recorded step on msprobe lets "
        "operators run in the calling thread instead of going through MindSpore's queues, so that "
        "plain steps take less time as well. mindstudio-probe is 26.2.0.\n\n"
        + report.table(["case", "msprobe: before → plain → recorded",
                        "mindstudio-probe: before → plain → recorded", "msprobe adds",
                        "mindstudio-probe adds", "ratio", "aim", "records a step"], rows))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*sys.argv[1:5])
    main()
