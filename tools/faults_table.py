#!/usr/bin/env python3
"""docs/faults.md from tests/faults.toml and the results of the last `./dev test` (build/results).

usage: tools/faults_table.py [--check | --names]
  --check   write nothing, fail if a test is missing or failed
  --names   write nothing, fail if no source defines a test of that name (needs no results)
"""

from __future__ import annotations

import re
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# Faults of tools of this kind

Each line is a fault that was seen in a tool for numerical debugging, the tests that show that msprobe
does not have it, and how they ended in the run of `./dev test` that made this page (`./dev faults`).
"""


def names_of(case: ET.Element) -> list[str]:
    """How tests/faults.toml calls a test of a result file."""
    name = case.get("name", "")
    if match := re.fullmatch(r"test_case\[(.+)\]", name):
        return ["case:" + match[1]]
    if match := re.fullmatch(r"test_journey\[(.+?)(-.*)?\]", name):
        return ["journey:" + match[1]]
    # GoogleTest: Prefix/Suite.Name/3, ctest adds " # GetParam() = …".
    plain = re.sub(r"(\[.*|/[^/.]*( #.*)?)$", "", name)
    return [plain.split("/")[-1]]


def results(folder: Path) -> dict[str, str]:
    """Test name → passed, failed or skipped; the worst of all its parameters."""
    order = ["skipped", "passed", "failed"]
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.xml")):
        for case in ET.parse(path).iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            skipped = case.find("skipped") is not None or case.get("status") == "notrun"
            now = "failed" if failed else "skipped" if skipped else "passed"
            for name in names_of(case):
                found[name] = max(found.get(name, "skipped"), now, key=order.index)
    return found


def defined() -> set[str]:
    """The tests that the sources define, under the names of tests/faults.toml."""
    names = {f"case:{path.parent.name}/{path.name}" for path in (ROOT / "tests/golden/cases").glob("*/*")}
    names |= {f"journey:{path.stem}" for path in (ROOT / "tests/browser/journeys").glob("*.mjs")}
    for path in (file for folder in ("src", "tests") for file in (ROOT / folder).rglob("*_test.cc")):
        tests = re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE)
        names |= {f"{suite}.{test}" for suite, test in tests}
    for path in (ROOT / "tests").rglob("test_*.py"):
        names |= set(re.findall(r"^ *(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    return names


def unknown_names(faults: list[dict]) -> int:
    known = defined()
    unknown = [(fault["number"], test) for fault in faults for test in fault["tests"] if test not in known]
    for number, test in unknown:
        print(f"fault {number}: no source defines {test}: write its present name into tests/faults.toml")
    return 1 if unknown else 0


def main() -> int:
    faults = tomllib.loads((ROOT / "tests/faults.toml").read_text())["fault"]
    if "--names" in sys.argv:
        return unknown_names(faults)
    found = results(ROOT / "build/results")
    lines, problems, area = [HEAD], [], ""
    for fault in faults:
        states = [found.get(test, "not run") for test in fault["tests"]]
        for test, state in zip(fault["tests"], states, strict=True):
            if state != "passed":
                problems.append(f"fault {fault['number']}: {test}: {state}")
        if not states:
            problems.append(f"fault {fault['number']}: no test")
        if fault["area"] != area:
            area = fault["area"]
            lines.append(f"\n## {area.capitalize()}\n\n| | fault | tests | result |\n|---|---|---|---|")
        verdict = "passed" if states and set(states) == {"passed"} else ", ".join(sorted(set(states))) or "no test"
        tests = ", ".join(f"`{test}`" for test in fault["tests"])
        lines.append(f"| {fault['number']} | {fault['text']} | {tests} | {verdict} |")
    for problem in problems:
        print(problem)
    if "--check" not in sys.argv:
        (ROOT / "docs/faults.md").write_text("\n".join(lines) + "\n")
        print("wrote docs/faults.md")
    print(f"{len(faults)} faults, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
