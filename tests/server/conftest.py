"""Runs `msprobe view` over files that `msprobe graph` has written."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # for what tests of other folders need as well
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))


def write_dump(directory: Path, scale: float) -> None:
    """A forward pass of two modules; everything behind the first one is off by `scale`."""
    directory.mkdir(parents=True)

    def tensor(value: float) -> dict[str, Any]:
        return {
            "type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 4],
            "Max": value, "Min": -value, "Mean": value / 2, "Norm": value * 3,
            "requires_grad": True,
        }  # fmt: skip

    def record(first: float, second: float) -> dict[str, Any]:
        return {
            "input_args": [tensor(first)], "input_kwargs": {}, "output": [tensor(second)],
        }  # fmt: skip

    data = {
        "Functional.linear.0.forward": record(1.0, 2.0 * scale),
        "Module.net.fc.Linear.forward.0": record(1.0, 2.0 * scale),
        "Functional.relu.0.forward": record(2.0 * scale, 2.0 * scale),
        "Module.net.Net.forward.0": record(1.0, 2.0 * scale),
    }
    construct = {
        "Functional.linear.0.forward": "Module.net.fc.Linear.forward.0",
        "Module.net.fc.Linear.forward.0": "Module.net.Net.forward.0",
        "Functional.relu.0.forward": "Module.net.Net.forward.0",
        "Module.net.Net.forward.0": None,
    }
    dump = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None,
            "data": data}  # fmt: skip
    (directory / "dump.json").write_text(json.dumps(dump))
    (directory / "construct.json").write_text(json.dumps(construct))
    (directory / "stack.json").write_text("{}")


def renamed(dump: Path, target: Path, old: str, new: str) -> Path:
    """A copy of a dump in which a name is another one."""
    shutil.copytree(dump, target)
    for name in ("dump.json", "construct.json"):
        text = (target / name).read_text()
        assert old in text
        (target / name).write_text(text.replace(old, new))
    return target


class Server:
    """A running `msprobe view`."""

    def __init__(self, *arguments: str | Path, env: dict[str, str] | None = None) -> None:
        command = [str(CLI), "view", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | (env or {}),
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0."), self.stop()
        self.host = self.url.removeprefix("http://").partition(":")[0]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def ask(
        self, target: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = self.connect()
        connection.request(method, target, body, {k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), answer

    def api(self, target: str) -> Any:
        status, _, body = self.ask(f"/api/{target}")
        assert status == 200, (target, status, body)
        return json.loads(body)

    def open(self, file: str) -> Any:
        for _ in range(600):
            answer = self.api(f"open?file={file}")
            if answer["state"] == "ready" and not any(u.get("pending") for u in answer["units"]):
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{file} is not ready")

    def stop(self) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`target` and `golden`, each with two ranks."""
    root = tmp_path_factory.mktemp("dumps")
    for rank in (0, 1):
        write_dump(root / "target" / "step0" / f"rank{rank}", 1.5 + rank)
        write_dump(root / "golden" / "step0" / f"rank{rank}", 1.0)
    return root


@pytest.fixture(scope="session")
def written(dumps: Path) -> Path:
    """A directory with the `.vis` files of two ranks."""
    output = dumps / "output"
    command = [str(CLI), "graph", "-tp", dumps / "target", "-gp", dumps / "golden", "-o", output]
    subprocess.run(command, check=True, capture_output=True)
    return output


@pytest.fixture(scope="module")
def server(written: Path) -> Iterator[Server]:
    running = Server(written)
    yield running
    running.stop()
