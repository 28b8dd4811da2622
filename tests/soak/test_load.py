"""Many at once, for long."""

from __future__ import annotations

import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

from conftest import CLI, SHARE, run, times

CLIENTS = 64
PROCESSES = 32
NODES = 100_000
SECONDS = max(5.0, 600 * SHARE)


def wide_dump(directory: Path) -> None:
    directory.mkdir()
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": 0.0, "Mean": 0.5,
              "Norm": 1.0, "requires_grad": False}
    layers, data, construct = 1000, {}, {"Module.net.Net.forward.0": None}
    record = {"input_args": [tensor], "input_kwargs": {}, "output": [tensor]}
    for layer in range(layers):
        module = f"Module.net.layers.{layer}.Block.forward.0"
        for call in range(NODES // layers - 1):
            name = f"Functional.relu.{layer * (NODES // layers) + call}.forward"
            data[name], construct[name] = record, module
        data[module], construct[module] = record, "Module.net.Net.forward.0"
    data["Module.net.Net.forward.0"] = record
    (directory / "dump.json").write_text(json.dumps({"task": "statistics", "level": "mix", "data": data}))
    (directory / "construct.json").write_text(json.dumps(construct))
    (directory / "stack.json").write_text("{}")


def anonymous_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Client(threading.Thread):
    """A person who opens layers, searches and looks at nodes, without a pause."""

    def __init__(self, port: int, file: str, seed: int, end: float) -> None:
        super().__init__()
        self.port, self.file, self.chance, self.end = port, file, random.Random(seed), end
        self.taken: list[tuple[float, float]] = []
        self.error = ""

    def path(self) -> str:
        node = self.chance.randrange(1, NODES)
        return self.chance.choice((
            f"rows?file={self.file}&u=0&t=0&g=0&offset={self.chance.randrange(900)}&limit=100",
            f"node?file={self.file}&u=0&side=t&id={node}",
            f"search?file={self.file}&u=0&q=relu.{node}&side=b&limit=50",
            f"list?file={self.file}&u=0&by=band&value=0&side=t&offset={node}&limit=100",
            f"overview?file={self.file}&u=0&bins=200",
        ))

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while time.monotonic() < self.end and not self.error:
            begin = time.monotonic()
            path = self.path()
            try:
                connection.request("GET", "/api/" + path)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.error = f"{path}: {error!r}"
                return
            if answer.status != 200:
                self.error = f"{path}: {answer.status} {body[:300]!r}"
            self.taken.append((begin, time.monotonic() - begin))


def percentile(values: list[float], share: float) -> float:
    return 1000 * sorted(values)[int(share * (len(values) - 1))]


def test_server(row, tmp_path):
    for side in ("target", "golden"):
        wide_dump(tmp_path / side)
    assert run([CLI, "graph", "target", "golden", "-o", "out"], cwd=tmp_path).returncode == 0
    server = subprocess.Popen([CLI, "view", "out"], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(path: str) -> dict:
        connection.request("GET", "/api/" + path)
        return json.loads(connection.getresponse().read())

    file = ask("files")["files"][0]["file"]
    while ask(f"open?file={file}")["state"] != "ready":
        time.sleep(0.05)
    begin = time.monotonic()
    clients = [Client(port, file, seed, begin + SECONDS) for seed in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(SECONDS / 5)
    early = anonymous_mib(server.pid)
    for client in clients:
        client.join()
    late = anonymous_mib(server.pid)
    server.terminate()
    server.wait()
    assert not [client.error for client in clients if client.error]
    taken = [item for client in clients for item in client.taken]
    first = [seconds for at, seconds in taken if at < begin + SECONDS / 5]
    last = [seconds for at, seconds in taken if at > begin + SECONDS * 4 / 5]
    assert late <= early * 1.1 + 8, f"memory grew from {early:.0f} to {late:.0f} MiB"
    row(f"{CLIENTS} clients on a file of 2 × 100,000 nodes", f"{len(taken)} requests in {SECONDS:.0f} s",
        "no error, memory and latencies flat",
        f"0 errors; memory {early:.0f} → {late:.0f} MiB; median {1000 * statistics.median(first):.0f} → "
        f"{1000 * statistics.median(last):.0f} ms, 99 % {percentile(first, 0.99):.0f} → {percentile(last, 0.99):.0f} ms")


WRITERS = """
    import os, sys
    import torch
    from torch import nn
    import msprobe.pytorch
    torch.set_num_threads(1)
    children = []
    for rank in range(int(sys.argv[1])):
        child = os.fork()
        if child == 0:
            from msprobe.pytorch import PrecisionDebugger
            os.environ["RANK"] = str(rank)
            model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
            debugger = PrecisionDebugger(level="mix", task="statistics", dump_path="dump")
            for step in range(int(sys.argv[2])):
                debugger.start(model)
                model(torch.randn(2, 8)).sum().backward()
                debugger.stop()
                debugger.step()
            sys.exit(0)  # the last step is finished on the way
        children.append(child)
    codes = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(max(codes) != 0)
"""


def test_many_writers(row, tmp_path):
    steps = times(20)
    (tmp_path / "writers.py").write_text(textwrap.dedent(WRITERS))
    done = run([sys.executable, "writers.py", PROCESSES, steps], cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stdout[-3000:]
    records = 0
    for step in range(steps):
        units = sorted((tmp_path / f"dump/step{step}").iterdir())
        assert len(units) == PROCESSES, [unit.name for unit in units]
        names = {tuple(json.loads((unit / "dump.json").read_text())["data"]) for unit in units}
        assert len(names) == 1, "processes recorded different calls"
        records += PROCESSES * len(next(iter(names)))
    row(f"{PROCESSES} processes writing one tree", f"{steps} steps", "each has its own folder, no record is lost",
        f"{records} records, all there")
