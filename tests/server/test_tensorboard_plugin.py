"""The viewer as a tab of a real TensorBoard."""

from __future__ import annotations

import http.client
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from free_port import free_port

pytest.importorskip("tensorboard")
_viewer = pytest.importorskip("msprobe._viewer")

PREFIX = "/data/plugin/msprobe"


class TensorBoard:
    def __init__(self, logdir: Path, packages: Path | None = None) -> None:
        """With `packages`: nothing but what lies there can be imported, besides Python itself."""
        self.port = free_port()
        alone = [] if packages is None else ["-S"]
        paths = {} if packages is None else {"PYTHONPATH": str(packages)}
        command = [sys.executable, *alone, "-m", "tensorboard.main", "--logdir", str(logdir),
                   "--port", str(self.port), "--host", "127.0.0.1"]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | paths
        )
        for _ in range(600):
            try:
                self.ask("/data/plugins_listing")
                return
            except OSError:
                assert self.process.poll() is None, "TensorBoard has ended"
                time.sleep(0.2)
        raise AssertionError("TensorBoard does not answer")

    def ask(
        self, target: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), answer

    def json(self, target: str) -> Any:
        status, _, body = self.ask(target)
        assert status == 200, body
        return json.loads(body)


@pytest.fixture(scope="module")
def tensorboard(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    logdir = tmp_path_factory.mktemp("logdir")
    shutil.copytree(written, logdir / "run")
    running = TensorBoard(logdir)
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


def test_the_tab_is_there(tensorboard: TensorBoard) -> None:
    listing = tensorboard.json("/data/plugins_listing")
    assert "msprobe" in listing, "the package is not installed: no entry point"
    try:
        importlib.metadata.distribution("tb-graph-ascend")
        expected = "MSPROBE"
    except importlib.metadata.PackageNotFoundError:
        expected = "GRAPH_ASCEND"
    assert listing["msprobe"]["tab_name"] == expected
    assert listing["msprobe"]["enabled"] is True
    assert listing["msprobe"]["loading_mechanism"]["type"] == "IFRAME"


@pytest.mark.parametrize(("known", "name"), [(True, "MSPROBE"), (False, "GRAPH_ASCEND")])
def test_the_tab_takes_the_known_name_where_it_is_free(
    tmp_path: Path, known: bool, name: str
) -> None:
    """In an environment of its own, with and without the known viewer."""
    packages = tmp_path / "packages"
    packages.mkdir()
    there = False
    for entry in Path(importlib.metadata.distribution("tensorboard").locate_file("")).iterdir():
        is_known = entry.name.startswith("tb_graph_ascend")
        if known or not is_known:
            (packages / entry.name).symlink_to(entry)
        there = there or is_known
    if known and not there:
        pytest.skip("tb-graph-ascend is not installed")
    running = TensorBoard(tmp_path, packages)
    try:
        tabs = [tab["tab_name"].upper() for tab in running.json("/data/plugins_listing").values()]
    finally:
        running.process.terminate()
        running.process.wait(timeout=60)
    assert name in tabs
    assert tabs.count("GRAPH_ASCEND") == 1


def test_the_frame_loads_our_module(tensorboard: TensorBoard) -> None:
    status, _, entry = tensorboard.ask("/data/plugin_entry.html?name=msprobe")
    assert status == 200
    assert b'import("./index.js")' in entry
    status, headers, module = tensorboard.ask(f"{PREFIX}/index.js")
    assert status == 200
    assert headers["Content-Type"].startswith("text/javascript")
    assert b"export function render" in module


@pytest.mark.parametrize("name", ["viewer.js", "viewer.css"])
def test_the_front_end_is_served(tensorboard: TensorBoard, name: str) -> None:
    status, headers, body = tensorboard.ask(f"{PREFIX}/{name}")
    if status == 404:
        pytest.skip("built without the front end")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert len(body) > 1000


def test_the_same_api(tensorboard: TensorBoard) -> None:
    (entry,) = tensorboard.json(f"{PREFIX}/api/files")["files"]
    assert re.fullmatch(r"run/compare_step\*_rank\*_\d+\.vis", entry["file"])
    query = f"file={entry['file']}"
    for _ in range(300):
        answer = tensorboard.json(f"{PREFIX}/api/open?{query}")
        if answer["state"] == "ready":
            break
        time.sleep(0.1)
    assert [unit["rank"] for unit in answer["units"]] == [0, 1]
    rows = tensorboard.json(f"{PREFIX}/api/rows?{query}&u=1&t=0&g=0")
    assert rows["total"] == 1


def test_errors_keep_their_status(tensorboard: TensorBoard) -> None:
    for target, expected in {
        "api/rows?file=none.vis&u=0&t=0&g=0": 404,
        "api/nothing": 404,
        "api/open?file=../../etc/passwd": 400,
    }.items():
        status, headers, body = tensorboard.ask(f"{PREFIX}/{target}")
        assert status == expected, body
        assert headers["Content-Type"].startswith("application/json")
        assert json.loads(body)["error"]["fact"]


def test_changes_from_other_sites_are_refused(tensorboard: TensorBoard) -> None:
    target = f"{PREFIX}/api/matches?file=x&u=0"
    for headers in ({}, {"Origin": "http://evil.example"}):
        assert tensorboard.ask(target, "POST", "{}", **headers)[0] == 403
    # A name that its owner may point to this machine: the browser takes the page for the same site.
    rebound = {"Host": "evil.example:6006", "Origin": "http://evil.example:6006"}
    assert tensorboard.ask(target, "POST", "{}", **rebound)[0] == 403
    own = {"Origin": f"http://127.0.0.1:{tensorboard.port}"}
    assert tensorboard.ask(target, "POST", "{}", **own)[0] == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_body_without_a_length_has_a_limit(tensorboard: TensorBoard, method: str) -> None:
    chunks = (b"x" * 65536 for _ in range(64))
    connection = http.client.HTTPConnection("127.0.0.1", tensorboard.port, timeout=60)
    headers = {"Origin": f"http://127.0.0.1:{tensorboard.port}"}
    try:
        connection.request(method, f"{PREFIX}/api/files", chunks, headers, encode_chunked=True)
        status = connection.getresponse().status
    except OSError:  # the rest of the body is not taken any more
        status = None
    connection.close()
    assert status in (None, 413 if method == "POST" else 200)
    tensorboard.json(f"{PREFIX}/api/files")
