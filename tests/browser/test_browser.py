"""Journeys of a person through the viewer: each script in journeys/ is one test."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WEB = ROOT / "web"
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))
JOURNEYS = sorted(path.stem for path in (HERE / "journeys").glob("*.mjs") if path.stem != "page")
# Needs a file that takes as long to load as the test wants.
ONLY_TEST_SERVER = {"loading"}


def node() -> str:
    own = ROOT / ".cache" / "node" / "tools" / "node"
    found = str(own) if own.exists() else shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: ./dev setup web")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def has_view() -> bool:
    if not CLI.exists():
        return False
    return subprocess.run([CLI, "view", "--help"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def running(command: list[str]) -> Iterator[str]:
    """The address of a server that prints it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), f"{command} printed {address!r}"
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def test_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled test server."""
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the web packages are not installed: ./dev setup web")
    bundle = tmp_path_factory.mktemp("server") / "server.mjs"
    esbuild = WEB / "node_modules" / "esbuild" / "bin" / "esbuild"
    options = ["--bundle", "--platform=node", "--format=esm", "--log-level=warning"]
    main = WEB / "test_server" / "main.ts"
    subprocess.run([node(), esbuild, main, *options, f"--outfile={bundle}"], check=True)
    if not (WEB / "dist" / "index.html").exists():
        vite = WEB / "node_modules" / "vite" / "bin" / "vite.js"
        subprocess.run([node(), vite, "build"], cwd=WEB, check=True, capture_output=True)
    return bundle


@pytest.fixture(scope="session")
def files(test_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Graph files that show the same as the test server, and a report."""
    folder = tmp_path_factory.mktemp("files")
    subprocess.run([node(), test_server, "--vis", folder / "out"], check=True)
    report = [WEB / "dist", folder / "report.html"]
    subprocess.run([node(), test_server, "--report", *report], check=True)
    return folder


def commands(test_server: Path, files: Path) -> dict[str, list[str]]:
    """Commands that serve on the port that is appended."""
    servers = {"test": [node(), str(test_server), str(WEB / "dist")]}
    if has_view():
        servers["view"] = [str(CLI), "view", str(files / "out"), "--port"]
    return servers


@pytest.fixture(scope="session", autouse=True)
def small_pictures() -> Iterator[None]:
    """Pictures for the guide need 256 colours at most."""
    yield
    folder = os.environ.get("MSPROBE_PICTURES")
    if folder is None:
        return
    from PIL import Image  # noqa: PLC0415

    for path in Path(folder).glob("*.png"):
        Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


@pytest.fixture(scope="session")
def servers(test_server: Path, files: Path) -> Iterator[dict[str, str]]:
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(running([*command, "0"]))
            for name, command in commands(test_server, files).items()
        }


def can_match(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}api/matches?file=compare_other.vis&u=0", timeout=60):
            return True
    except urllib.error.HTTPError:
        return False


def choose(name: str, servers: dict[str, str]) -> str:
    if "view" not in servers or name in ONLY_TEST_SERVER:
        return "test"
    if name == "matching" and not can_match(servers["view"]):
        return "test"
    return "view"


@pytest.mark.parametrize("name", JOURNEYS)
def test_journey(
    name: str, servers: dict[str, str], test_server: Path, files: Path, tmp_path: Path
) -> None:
    chosen = choose(name, servers)
    port = free_port()
    environment = {
        **os.environ,
        # For journeys that end and start a server themselves.
        "MSPROBE_SERVER": json.dumps([*commands(test_server, files)[chosen], str(port)]),
        "MSPROBE_SERVER_ADDRESS": f"http://127.0.0.1:{port}/",
        "MSPROBE_REPORT": str(files / "report.html"),
        "MSPROBE_PICTURES": os.environ.get("MSPROBE_PICTURES", str(tmp_path)),
    }
    command = [node(), str(HERE / "journeys" / f"{name}.mjs"), servers[chosen]]
    started = time.monotonic()
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    seconds = time.monotonic() - started
    assert result.returncode == 0, f"{name} ({chosen}, {seconds:.0f} s)\n{result.stdout}{result.stderr}"
