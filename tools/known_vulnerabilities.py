"""What an OSV database on this disk knows against the versions that are used; nothing goes over the network.

The folder is as osv-scanner's: <folder>/<ecosystem>/all.zip, one JSON record a file (https://ossf.github.io/osv-schema).
"""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote


class Used(NamedTuple):
    ecosystem: str
    name: str
    version: str


def plain_name(ecosystem: str, name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower() if ecosystem == "PyPI" else name


def used(purl: str) -> Used | None:
    """pkg:npm/%40a/b@1.2 → (npm, @a/b, 1.2)."""
    match = re.fullmatch(r"pkg:(\w+)/(?:debian/)?([^?]+)@([^?@]*)(\?.*)?", purl)
    ecosystem = {"pypi": "PyPI", "npm": "npm", "deb": "Debian:12"}.get(match[1]) if match else None
    if not match or ecosystem is None:
        return None
    return Used(ecosystem, plain_name(ecosystem, unquote(match[2])), unquote(match[3]))


def semantic_key(version: str) -> tuple:
    """Orders npm's versions: a version with a suffix comes before the one without."""
    core, _, suffix = version.partition("+")[0].partition("-")
    numbers = tuple(int(part) for part in re.findall(r"\d+", core))
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in suffix.split("."))
    return (numbers, suffix == "", parts)


def semantic_before(a: str, b: str) -> bool:
    return semantic_key(a) < semantic_key(b)


def debian_before(a: str, b: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", a, "lt", b], check=False).returncode == 0


def in_range(version: str, events: list[dict], before: Callable[[str, str], bool]) -> bool:
    """Events in their order: introduced opens, fixed closes before itself, last_affected behind itself."""
    inside = False
    for event in events:
        if "introduced" in event:
            inside = inside or event["introduced"] == "0" or not before(version, event["introduced"])
        elif "fixed" in event:
            inside = inside and before(version, event["fixed"])
        elif "last_affected" in event:
            inside = inside and not before(event["last_affected"], version)
    return inside


def is_affected(package: Used, affected: dict) -> bool:
    if package.version in affected.get("versions", []):
        return True
    # PyPI's records name every version; their order is no simple one.
    if package.ecosystem == "PyPI":
        return False
    before = semantic_before if package.ecosystem == "npm" else debian_before
    return any(in_range(package.version, one["events"], before)
               for one in affected.get("ranges", []) if one["type"] in ("SEMVER", "ECOSYSTEM"))


def records(folder: Path, ecosystem: str) -> Iterator[dict]:
    """Of Debian all releases lie in one archive."""
    for name in (ecosystem, ecosystem.partition(":")[0]):
        path = folder / name / "all.zip"
        if path.exists():
            with zipfile.ZipFile(path) as archive:
                for entry in archive.namelist():
                    yield json.loads(archive.read(entry))
            return


def missing(packages: Iterable[Used], folder: Path) -> set[str]:
    return {one.ecosystem for one in packages if next(records(folder, one.ecosystem), None) is None}


def known(packages: Iterable[Used], folder: Path) -> list[tuple[str, Used, str]]:
    """(id, package, summary) of all that applies and was not withdrawn."""
    by_name: dict[tuple[str, str], list[Used]] = {}
    for package in packages:
        by_name.setdefault((package.ecosystem, package.name), []).append(package)
    found = []
    for ecosystem in sorted({ecosystem for ecosystem, _ in by_name}):
        for record in records(folder, ecosystem):
            if "withdrawn" in record:
                continue
            for affected in record.get("affected", []):
                told = affected.get("package", {})
                name = plain_name(ecosystem, told.get("name", ""))
                if told.get("ecosystem") != ecosystem:
                    continue
                found += [(record["id"], package, record.get("summary", ""))
                          for package in by_name.get((ecosystem, name), []) if is_affected(package, affected)]
    return sorted(set(found))
