"""Starts a real TensorBoard with tb-graph-ascend and talks to the plugin as its own page does."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from free_port import free_port

START_SECONDS = 120


def _refuse_constant(token: str) -> Any:
    raise ValueError(f"{token} is no JSON: a browser could not read the answer")


def strict_json(text: str) -> Any:
    """Reads JSON as a browser does: NaN and Infinity are errors."""
    return json.loads(text, parse_constant=_refuse_constant)


class Plugin:
    """The plugin of one running TensorBoard. It keeps one open graph for everybody."""

    def __init__(self, port: int) -> None:
        self.page = f"http://127.0.0.1:{port}/"
        self._base = self.page + "data/plugin/graph_ascend/"

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self._base + path, timeout=120) as answer:
            return answer.read().decode()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            self._base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return strict_json(answer.read().decode())

    def runs(self) -> dict[str, dict[str, Any]]:
        """Directories with their file type and tags; fails if the plugin refuses a file."""
        answer = strict_json(self.get("load_meta_dir"))
        assert answer["error"] == [], answer["error"]
        return answer["data"]

    def open(self, run: str, tag: str | None = None) -> OpenGraph:
        """Loads a file; without `tag` the only one of the run."""
        found = self.runs()[run]
        if tag is None:
            assert len(found["tags"]) == 1, found
            tag = found["tags"][0]
        return OpenGraph(self, run, tag, found["type"])


class OpenGraph:
    """One loaded file: what a person can do with it in the page."""

    def __init__(self, plugin: Plugin, run: str, tag: str, file_type: str) -> None:
        self._plugin = plugin
        self.file_type = file_type
        self.meta = {
            "run": run, "tag": tag, "type": file_type, "microStep": -1, "lang": "en",
            "rank": 0, "step": 0,
        }  # fmt: skip
        self._load()
        self.config = self._ask("loadGraphConfigInfo")
        self.sides = ["Single"] if self.config["isSingleGraph"] else ["NPU", "Bench"]
        self.select(*((self.config.get(key) or [0])[0] for key in ("ranks", "steps")))

    def _load(self) -> None:
        query = f"run={self.meta['run']}&tag={self.meta['tag']}&type={self.file_type}&lang=en"
        answer = self._plugin.get("loadGraphData?" + query)
        # For a database the plugin answers with the keys of a dict, which is not JSON.
        assert self.file_type == "db" or '"done": true' in answer, answer[-300:]

    def select(self, rank: int, step: int, micro_step: int = -1) -> None:
        self.meta |= {"rank": rank, "step": step, "microStep": micro_step}

    def answer(self, path: str, **body: Any) -> dict[str, Any]:
        return self._plugin.post(path, {"metaData": self.meta, **body})

    def _ask(self, path: str, **body: Any) -> Any:
        answer = self.answer(path, **body)
        assert answer["success"] is True, (path, body, answer)
        return answer["data"]

    def node_lists(self) -> dict[str, Any]:
        """All names, the unmatched ones and the pairs, of both sides."""
        return self._ask("loadGraphAllNodeList")

    def expand(self, name: str, side: str) -> dict[str, Any]:
        """Opens or closes a node ("root": the top level anew); the nodes then visible."""
        node = {"nodeName": name, "nodeType": side}
        return self._ask("changeNodeExpandState", nodeInfo=node)

    def info(self, name: str, side: str) -> dict[str, Any]:
        """{"npu": …, "bench": …}: a node and its partner."""
        node = {"nodeName": name, "nodeType": side}
        return self._ask("getNodeInfo", nodeInfo=node)

    def with_index(self, low: float, high: float) -> list[str]:
        return self._ask("screen", type="precision", values=[[low, high]])

    def unmatched(self) -> list[str]:
        return self._ask("screen", type="precision", values=[-1])

    def with_overflow(self, levels: list[str]) -> dict[str, Any]:
        return self.answer("screen", type="overflow", values=levels)

    def match(self, target: str, golden: str, *, children: bool) -> dict[str, Any]:
        names = {"npuNodeName": target, "benchNodeName": golden}
        return self.answer("addMatchNodes", **names, isMatchChildren=children)

    def unmatch(self, target: str, golden: str, *, children: bool) -> dict[str, Any]:
        names = {"npuNodeName": target, "benchNodeName": golden}
        return self.answer("deleteMatchNodes", **names, isUnMatchChildren=children)


@contextlib.contextmanager
def running_tensorboard(logdir: Path) -> Iterator[Plugin]:
    """A TensorBoard over `logdir` on a free loopback port, ended with the block."""
    port = free_port()
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--reload_interval", "0"]
    with (logdir.parent / "tensorboard.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            plugin = Plugin(port)
            _wait_until_up(plugin, server, Path(log.name))
            yield plugin
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_until_up(plugin: Plugin, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            plugin.get("load_meta_dir")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError("TensorBoard did not start:\n" + log.read_text()[-2000:])
