#!/usr/bin/env python3
"""What the product depends on: a bill of materials, and what can be checked of it without a network.

usage: tools/dependencies.py sbom    writes build/sbom.cdx.json (CycloneDX 1.5)
       tools/dependencies.py audit   fails if a version is not pinned, a hash is missing or a package comes
                                     from a place of its own; notes packages that Debian has mended since.
                                     With a database of osv-scanner on this disk (its folder or
                                     OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY) fails at known vulnerabilities too
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

import known_vulnerabilities

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "tools/packages"
# Where each list ends up: in the program, or only in building and testing it.
SCOPES = {"debian.txt": "required", "debian-test.txt": "excluded"}


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def debian(package: str, field: str) -> str:
    found = subprocess.run(["dpkg-query", "-W", "-f", field, package], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def components() -> list[dict]:
    found = []
    for name, scope in SCOPES.items():
        for package in lines(PACKAGES / name):
            version = debian(package, "${Version}")
            found.append({"type": "library", "name": package, "version": version or "unknown", "scope": scope,
                          "purl": f"pkg:deb/debian/{quote(package)}@{quote(version)}?distro=debian-12"})
    for path in sorted(PACKAGES.glob("*.txt")):
        if path.name in SCOPES:
            continue
        for line in lines(path):
            package, _, version = line.partition("==")
            found.append({"type": "library", "name": package, "version": version, "scope": "excluded",
                          "purl": f"pkg:pypi/{package.lower().replace('_', '-')}@{version}"})
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    for place, entry in sorted(lock["packages"].items()):
        if not place:
            continue
        package = place.rpartition("node_modules/")[2]
        found.append({"type": "library", "name": package, "version": entry["version"],
                      "scope": "excluded" if entry.get("dev") else "required",
                      "purl": f"pkg:npm/{quote(package)}@{entry['version']}",
                      "licenses": [{"expression": entry["license"]}] if "license" in entry else []})
    unique = {item["purl"]: item for item in found}
    return list(unique.values())


def write_sbom() -> int:
    version = re.search(r"project\(msprobe VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "msprobe", "version": version[1] if version else "",
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": components(),
    }
    path = ROOT / "build/sbom.cdx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    linked = sum(item["scope"] == "required" for item in document["components"])
    print(f"wrote {path.relative_to(ROOT)}: {len(document['components'])} components, {linked} of them in the product")
    return 0


def outdated_in_debian(packages: list[str]) -> list[str]:
    """Advice for this machine; one call for all packages, since apt-cache opens its cache each time."""
    policy = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True, check=False,
                            env={**os.environ, "LC_ALL": "C"}).stdout
    found = re.findall(r"^(\S+):\n  Installed: (\S+)\n  Candidate: (\S+)", policy, re.MULTILINE)
    return [f"{package}: {installed} is installed, Debian has {candidate}: apt-get upgrade"
            for package, installed, candidate in found if installed not in ("(none)", candidate)]


def vulnerability_database() -> Path | None:
    root = os.environ.get("OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY")
    roots = [Path(root)] if root else [Path.home() / ".cache"]
    found = [one / name for one in roots for name in ("osv-scalibr", "osv-scanner") if (one / name).is_dir()]
    return found[0] if found else None


def known_problems() -> list[str]:
    folder = vulnerability_database()
    if folder is None:
        print("note: no database of known vulnerabilities here (docs/security.md)")
        return []
    packages = set()
    for item in components():
        one = known_vulnerabilities.used(item["purl"])
        if one and one.ecosystem.startswith("Debian"):  # there they are counted by source package
            one = one._replace(name=debian(item["name"], "${source:Package}"),
                               version=debian(item["name"], "${source:Version}"))
        if one and one.version:
            packages.add(one)
    for ecosystem in sorted(known_vulnerabilities.missing(packages, folder)):
        print(f"note: {folder} knows nothing of {ecosystem}")
    accepted = tomllib.loads((PACKAGES / "accepted_vulnerabilities.toml").read_text())["accepted"]
    return [f"{package.ecosystem} {package.name} {package.version}: {id}: {summary}"
            for id, package, summary in known_vulnerabilities.known(packages, folder) if id not in accepted]


def audit() -> int:
    problems = known_problems()
    for path in sorted(PACKAGES.glob("*.txt")):
        if path.name in SCOPES:
            for advice in outdated_in_debian(list(lines(path))):
                print("note: " + advice)  # of this machine, not of the project
            continue
        for line in lines(path):
            if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", line):
                problems.append(f"{path.name}: '{line}' is not pinned")
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    for place, entry in lock["packages"].items():
        if not place:
            continue
        if not entry.get("integrity"):
            problems.append(f"package-lock.json: {place} has no hash")
        # npm's default place stands for all; the lock is written without it.
        if "resolved" in entry:
            problems.append(f"package-lock.json: {place} names a place of its own")
    manifest = json.loads((ROOT / "web/package.json").read_text())
    for package, version in {**manifest.get("dependencies", {}), **manifest.get("devDependencies", {})}.items():
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            problems.append(f"package.json: {package} {version} is not pinned")
    for problem in problems:
        print(problem)
    print(f"{len(components())} dependencies, {len(problems)} problems")
    return 1 if problems else 0


def main() -> int:
    commands = {"sbom": write_sbom, "audit": audit}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
