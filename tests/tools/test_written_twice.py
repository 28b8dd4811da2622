"""What is written by hand in more than one language is the same everywhere."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def written(path: str, pattern: str) -> str:
    (found,) = re.findall(pattern, (ROOT / path).read_text(), re.MULTILINE)
    return found


def test_one_version() -> None:
    package = json.loads((ROOT / "web/package.json").read_text())
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    versions = {
        "CMakeLists.txt": written("CMakeLists.txt", r"^project\(msprobe VERSION (\S+)"),
        "pyproject.toml": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"],
        "python/msprobe/__init__.py": written("python/msprobe/__init__.py", r'^__version__ = "(.*)"$'),
        "web/package.json": package["version"],
        "web/package-lock.json": lock["version"],
        "web/package-lock.json, its root": lock["packages"][""]["version"],
    }
    assert len(set(versions.values())) == 1, versions


def test_one_limit_of_a_request() -> None:
    """The tab of TensorBoard takes as much as the command's own server."""
    plugin = written("python/msprobe/tensorboard_plugin/plugin.py", r"^MAX_BODY = (.*)$")
    assert plugin == written("src/server/http_server.cc", r"^constexpr uint64_t kMaxBody = (.*);$")
