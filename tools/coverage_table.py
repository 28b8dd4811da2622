#!/usr/bin/python3
"""docs/coverage.md: which lines of src/ the tests ran, from the counters in a build folder (./dev coverage).

usage: tools/coverage_table.py BUILD_FOLDER

tests/coverage.toml explains files that stay below the goal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL = 90
LEAST_LINES = 5  # of a file in the list: a header with one defaulted function says nothing
# What only tests use.
FIXTURES = ("_test.cc", "_fixture.h")
HEAD = f"""# Coverage

Lines of `src` and `include` that the C++ tests and the tests of the command line and the server run, as gcov
counts them; `./dev coverage` writes this page. The goal is {GOAL} % in each folder.

| folder | lines | run | % |
|---|---|---|---|
"""


def counts_of(note: Path) -> dict[str, dict[int, int]]:
    """File → line → how often it ran, for one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(note)], capture_output=True, text=True, check=True)
    counts: dict[str, dict[int, int]] = {}
    for document in done.stdout.splitlines():
        parsed = json.loads(document)
        for file in parsed["files"]:
            path = os.path.normpath(os.path.join(parsed["current_working_directory"], file["file"]))
            name = os.path.relpath(path, ROOT)
            if not name.startswith(("src/", "include/")) or name.endswith(FIXTURES):
                continue
            lines = counts.setdefault(name, {})
            for line in file["lines"]:
                lines[line["line_number"]] = lines.get(line["line_number"], 0) + line["count"]
    return counts


def coverage(build: Path) -> dict[str, dict[int, int]]:
    # Those of tests too: of a header's functions, which several object files have, one copy runs.
    notes = list(build.rglob("*.gcno"))
    total: dict[str, dict[int, int]] = {}
    with ThreadPoolExecutor() as pool:
        for counts in pool.map(counts_of, notes):
            for name, lines in counts.items():
                merged = total.setdefault(name, {})
                for line, count in lines.items():
                    merged[line] = merged.get(line, 0) + count
    return total


def percent(lines: list[int]) -> float:
    return 100 * sum(count > 0 for count in lines) / len(lines)


def main(build: Path) -> int:
    files = {name: list(lines.values()) for name, lines in coverage(build).items() if lines}
    folders: dict[str, list[int]] = {}
    for name, lines in files.items():
        folder = "/".join(name.split("/")[:2])
        folders.setdefault(folder, []).extend(lines)
    folders = dict(sorted(folders.items()))
    folders["all"] = [count for lines in files.values() for count in lines]
    rows = [f"| {folder} | {len(lines):,} | {sum(count > 0 for count in lines):,} | {percent(lines):.1f} |\n"
            for folder, lines in folders.items()]
    reasons = tomllib.loads((ROOT / "tests/coverage.toml").read_text())["below_goal"]
    low = {name: percent(lines) for name, lines in sorted(files.items())
           if percent(lines) < GOAL and len(lines) >= LEAST_LINES}
    text = HEAD + "".join(rows) + f"\n## Files below {GOAL} %\n\n"
    text += f"Files with fewer than {LEAST_LINES} lines that count are left out.\n\n"
    text += "| file | % | what is not run |\n|---|---|---|\n"
    text += "".join(f"| {name} | {share:.1f} | {reasons.get(name, '')} |\n" for name, share in low.items())
    (ROOT / "docs/coverage.md").write_text(text)
    print(text)
    unexplained = [name for name in low if name not in reasons]
    if unexplained:
        print("not explained in tests/coverage.toml: " + ", ".join(unexplained), file=sys.stderr)
    needless = [name for name in reasons if name not in low]
    if needless:
        print("explained in tests/coverage.toml, but not below the goal: " + ", ".join(needless), file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
