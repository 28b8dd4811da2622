"""What an OSV database says about the versions that are used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from known_vulnerabilities import Used, known, missing, semantic_before, used  # noqa: E402


def record(ecosystem: str, name: str, *events: dict, kind: str = "SEMVER", **more: object) -> dict:
    ranges = [{"type": kind, "events": list(events)}] if events else []
    affected = {"package": {"ecosystem": ecosystem, "name": name}, "ranges": ranges, **more}
    return {"id": "X-1", "summary": "reads too far", "affected": [affected]}


def database(folder: Path, ecosystem: str, *found: dict) -> Path:
    (folder / ecosystem).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / ecosystem / "all.zip", "w") as archive:
        for number, one in enumerate(found):
            archive.writestr(f"{number}.json", json.dumps(one))
    return folder


@pytest.mark.parametrize(("version", "hit"), [
    ("0.9.0", False), ("1.0.0-rc.1", False), ("1.0.0", True), ("1.9.9", True), ("1.10.0-beta", True), ("1.10.0", False),
    ("2.0.0", True), ("2.0.3", True), ("2.0.4", False),
])
def test_ranges_of_npm(tmp_path: Path, version: str, hit: bool) -> None:
    events = [{"introduced": "1.0.0"}, {"fixed": "1.10.0"}, {"introduced": "2.0.0"}, {"last_affected": "2.0.3"}]
    folder = database(tmp_path, "npm", record("npm", "@a/b", *events))
    package = Used("npm", "@a/b", version)
    assert known([package], folder) == ([("X-1", package, "reads too far")] if hit else [])


def test_pypi_lists_versions_and_spells_names_in_many_ways(tmp_path: Path) -> None:
    folder = database(tmp_path, "PyPI", record("PyPI", "Typing.Extensions", versions=["1.0", "1.1"]))
    hit, miss = used("pkg:pypi/typing_extensions@1.1"), used("pkg:pypi/typing_extensions@1.2")
    assert hit and miss and [package for _, package, _ in known([hit, miss], folder)] == [hit]


def test_debian_counts_by_release(tmp_path: Path) -> None:
    fixed = record("Debian:12", "zlib", {"introduced": "0"}, {"fixed": "1:1.2.13-2"}, kind="ECOSYSTEM")
    other = record("Debian:11", "sqlite3", {"introduced": "0"}, kind="ECOSYSTEM")
    folder = database(tmp_path, "Debian", fixed, other)
    old, new = Used("Debian:12", "zlib", "1:1.2.13-1"), Used("Debian:12", "zlib", "1:1.2.13-2")
    newest = Used("Debian:12", "sqlite3", "3.40")
    assert [package for _, package, _ in known([old, new, newest], folder)] == [old]


def test_what_was_withdrawn_does_not_count(tmp_path: Path) -> None:
    folder = database(tmp_path, "npm", record("npm", "a", {"introduced": "0"}) | {"withdrawn": "2024-01-01"})
    assert known([Used("npm", "a", "1.0.0")], folder) == []


def test_an_ecosystem_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = database(tmp_path, "npm", record("npm", "a", {"introduced": "0"}))
    assert missing([Used("npm", "a", "1"), Used("PyPI", "b", "1")], folder) == {"PyPI"}


def test_order_of_npm_versions() -> None:
    ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0", "1.10.0"]
    for before, after in zip(ordered, ordered[1:], strict=False):
        assert semantic_before(before, after) and not semantic_before(after, before)


def test_audit_fails_at_a_known_vulnerability(tmp_path: Path) -> None:
    lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    version = lock["node_modules/preact"]["version"]
    database(tmp_path / "osv-scanner", "npm", record("npm", "preact", {"introduced": "0"}, {"last_affected": version}))
    done = subprocess.run([sys.executable, "tools/dependencies.py", "audit"], cwd=ROOT, text=True, capture_output=True,
                          env=os.environ | {"OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY": str(tmp_path)}, check=False)
    assert done.returncode == 1, done.stderr
    assert f"npm preact {version}: X-1: reads too far" in done.stdout
