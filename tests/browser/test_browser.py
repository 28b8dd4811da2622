"""Journeys of a person through the viewer: each script in journeys/ is one test."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from free_port import free_port  # noqa: E402

ROOT = HERE.parent.parent
WEB = ROOT / "web"
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))
JOURNEYS = sorted(path.stem for path in (HERE / "journeys").glob("*.mjs") if path.stem != "page")
# Needs a file that takes as long to load as the test wants.
ONLY_TEST_SERVER = {"loading"}
# These start a server of their own, or need none.
OWN_SERVER = {
    "compare_page", "damaged_first", "dumps", "empty_states", "many_ranks", "read_only", "real_data",
    "report", "saved_matches", "server_restart",
}  # fmt: skip
IN_TENSORBOARD = [name for name in JOURNEYS if name not in ONLY_TEST_SERVER | OWN_SERVER]
# What the guide shows, and what only the tests know.
PICTURES = (ROOT / "docs" / "images", HERE / "pictures")
# A pixel counts as another one beyond this difference of a channel: stored pictures have 256 colours.
SAME_COLOUR = 40
# Edges of letters may fall differently with another version of the browser.
SAME_PICTURE = 0.004


def node() -> str:
    own = ROOT / ".cache" / "node" / "tools" / "node"
    found = str(own) if own.exists() else shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: ./dev setup web")
    return found


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


@pytest.fixture(scope="session")
def tensorboard(files: Path) -> Iterator[str]:
    """A real TensorBoard with the viewer as a tab."""
    pytest.importorskip("tensorboard")
    pytest.importorskip("msprobe._viewer")
    port = free_port()
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(files / "out")]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugins_listing", timeout=60)
                break
            except OSError:
                assert process.poll() is None, "TensorBoard has ended"
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A pair of dumps that takes a moment to compare."""
    folder = tmp_path_factory.mktemp("dumps")
    maker = ROOT / "bench" / "large_dump.py"
    subprocess.run([sys.executable, maker, folder, "layers", "120000"], check=True)
    return [folder / "npu", folder / "bench"]


@pytest.fixture(scope="session")
def own_reports(files: Path) -> list[Path]:
    """What `msprobe view --export` makes: of a comparison, and of a graph alone."""
    if not has_view():
        return []
    reports = []
    for name in ("compare_step0_rank3_20261129.vis", "build_one.vis"):
        reports.append(files / f"{name}.html")
        command = [CLI, "view", files / "out" / name, "--export", reports[-1]]
        subprocess.run(command, check=True, capture_output=True)
    return reports


@pytest.fixture
def read_only(files: Path) -> Iterator[Path]:
    """A file that everybody may read and that a user without rights cannot write beside."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(files / "out" / "compare_other.vis", folder)
        folder.chmod(0o555)
        (folder / "compare_other.vis").chmod(0o444)
        yield folder
        folder.chmod(0o755)


def choose(name: str, servers: dict[str, str]) -> str:
    if "view" not in servers or name in ONLY_TEST_SERVER:
        return "test"
    if name == "matching" and not can_match(servers["view"]):
        return "test"
    return "view"


def differing_pixels(made: Path, stored: Path) -> float:
    """The part of the pixels that are another colour; 1 if the sizes differ."""
    from PIL import Image, ImageChops  # noqa: PLC0415

    with Image.open(made) as first, Image.open(stored) as second:
        if first.size != second.size:
            return 1.0
        difference = ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
    worst = ImageChops.lighter(
        ImageChops.lighter(difference.getchannel(0), difference.getchannel(1)),
        difference.getchannel(2),
    )
    counts = worst.histogram()
    return sum(counts[SAME_COLOUR:]) / sum(counts)


def check_pictures(made: Path) -> None:
    """Compares the pictures of a journey with the stored ones that have the same name."""
    pytest.importorskip("PIL")
    for picture in sorted(made.glob("*.png")):
        stored = [path for folder in PICTURES if (path := folder / picture.name).exists()]
        if not stored or picture.stem == "failed":
            continue
        part = differing_pixels(picture, stored[0])
        assert part <= SAME_PICTURE, (
            f"{part:.1%} of {picture} are not as in {stored[0]}; if that is meant, make the pictures "
            "anew, MSPROBE_PICTURES=FOLDER pytest tests/browser, and copy it there"
        )


def run_journey(name: str, address: str, environment: dict[str, str], user: int | None = None) -> None:
    command = [node(), str(HERE / "journeys" / f"{name}.mjs"), address]
    started = time.monotonic()
    result = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
        check=False, user=user,
    )  # fmt: skip
    seconds = time.monotonic() - started
    assert result.returncode == 0, f"{name} ({seconds:.0f} s)\n{result.stdout}{result.stderr}"


@pytest.mark.parametrize("name", [name for name in JOURNEYS if name != "read_only"])
def test_journey(
    name: str,
    servers: dict[str, str],
    test_server: Path,
    files: Path,
    dumps: list[Path],
    own_reports: list[Path],
    tmp_path: Path,
) -> None:
    if name in OWN_SERVER - {"report", "server_restart"} and not has_view():
        pytest.skip("the command line has no view")
    chosen = choose(name, servers)
    port = free_port()
    pictures = os.environ.get("MSPROBE_PICTURES")
    reports = [files / "report.html", *own_reports[:1]]
    real_data = ROOT / "tests" / "golden" / "cases" / "table" / "ulps" / "input"
    environment = {
        "MSPROBE_CLI": str(CLI),
        "MSPROBE_DUMPS": json.dumps([str(path) for path in dumps]),
        # For a journey that ends a server and starts it again at the same address.
        "MSPROBE_SERVER": json.dumps([*commands(test_server, files)[chosen], str(port)]),
        "MSPROBE_SERVER_ADDRESS": f"http://127.0.0.1:{port}/",
        "MSPROBE_REAL_DATA": json.dumps([str(real_data / side) for side in ("npu", "bench")]),
        "MSPROBE_REPORTS": json.dumps([str(path) for path in reports]),
        "MSPROBE_SINGLE_REPORTS": json.dumps([str(path) for path in own_reports[1:]]),
        "MSPROBE_PICTURES": pictures or str(tmp_path),
    }
    run_journey(name, servers[chosen], environment)
    if pictures is None and chosen == "view":
        check_pictures(tmp_path)


@pytest.mark.parametrize("name", IN_TENSORBOARD)
def test_journey_in_tensorboard(name: str, tensorboard: str, tmp_path: Path) -> None:
    environment = {"MSPROBE_INSIDE": "tensorboard", "MSPROBE_PICTURES": str(tmp_path)}
    run_journey(name, tensorboard, environment)


def test_journey_of_a_user_without_rights(read_only: Path) -> None:
    """Server and browser run as nobody, where the tests run as root."""
    if not has_view():
        pytest.skip("the command line has no view")
    shut = [folder for folder in (ROOT, *ROOT.parents) if not folder.stat().st_mode & 0o001]
    if os.geteuid() == 0 and shut:
        pytest.skip(f"other users may not enter {shut[-1]}: clone somewhere else to run this test")
    with tempfile.TemporaryDirectory() as home:
        nobody = 65534 if os.geteuid() == 0 else None
        Path(home).chmod(0o777)
        environment = {
            "HOME": home, "TMPDIR": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home,
            "MSPROBE_CLI": str(CLI), "MSPROBE_READ_ONLY": str(read_only),
            "MSPROBE_PICTURES": home,
        }  # fmt: skip
        run_journey("read_only", "", environment, nobody)
