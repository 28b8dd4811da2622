#!/usr/bin/env python3
"""docs/faults.md from tests/faults.toml and the results of the last `./dev test` (build/results).

usage: tools/faults_table.py [--check]   (--check: write nothing, fail if a test is missing or failed)
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


def main() -> int:
    faults = tomllib.loads((ROOT / "tests/faults.toml").read_text())["fault"]
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
