"""A training that is recorded for as long as it runs."""

from __future__ import annotations

import json
import os
import sys
import textwrap

from conftest import run, times

TRAINING = """
    import json, shutil, sys
    import torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger

    def anonymous_kib():
        for line in open("/proc/self/status"):
            if line.startswith("RssAnon:"):
                return int(line.split()[1])

    torch.set_num_threads(1)
    steps = int(sys.argv[1])
    model = nn.Sequential(nn.Embedding(16, 8), nn.LayerNorm(8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    debugger = PrecisionDebugger(level="mix", dump_path="dump")
    memory, recorded, lost = [], 0, 0

    def look_at(step):
        global recorded, lost
        entries = json.load(open(f"dump/step{step}/rank0/ledger.json"))["entries"]
        recorded += entries["recorded"]
        lost += entries["lost"] + abs(entries["unaccounted"])
        shutil.rmtree(f"dump/step{step}")

    for step in range(steps):
        debugger.start(model, rank_id=0)
        ids = torch.randint(0, 16, (2, 8))
        nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        debugger.stop()
        debugger.step()
        if step >= 2:  # this one is finished, and read by nobody else
            look_at(step - 2)
        if step in (steps // 10, steps - 1):
            memory.append(anonymous_kib())
    names = [list(json.load(open(f"dump/step{step}/rank0/dump.json"))["data"]) for step in (steps - 2,)]
    print(json.dumps({"memory": memory, "recorded": recorded, "lost": lost, "names": len(names[0])}))
"""


def test_training(row, tmp_path):
    steps = times(10_000)
    (tmp_path / "training.py").write_text(textwrap.dedent(TRAINING))
    done = run([sys.executable, "training.py", steps], cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stdout[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found = json.loads(line)
    early, late = (kib / 1024 for kib in found["memory"])
    assert found["lost"] == 0
    assert found["recorded"] == (steps - 2) * found["names"]
    assert late <= early + 8, f"memory grew from {early:.1f} to {late:.1f} MiB"
    row("a training under torch, recorded at level mix", f"{steps} steps", "memory flat, every call is recorded",
        f"memory {early:.1f} → {late:.1f} MiB; {found['recorded']} records, 0 lost")
