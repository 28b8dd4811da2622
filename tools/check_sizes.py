#!/usr/bin/env python3
"""Checks the line limits of source files and Python functions, and file names that say nothing.

Reads tools/sizes.toml. C++ functions are measured by clang-tidy (readability-function-size).
"""

import ast
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "const", "manager"}


def tracked_files() -> list[pathlib.Path]:
    output = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout
    return [ROOT / line for line in output.splitlines() if (ROOT / line).is_file()]


def long_functions(path: pathlib.Path, limit: int) -> list[str]:
    problems = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > limit:
                problems.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {lines} lines (limit {limit})")
    return problems


def main() -> int:
    rules = tomllib.loads((ROOT / "tools/sizes.toml").read_text())
    exceptions = rules.get("exceptions", {})
    problems = []
    for path in tracked_files():
        name = str(path.relative_to(ROOT))
        if path.stem.lower() in EMPTY_NAMES:
            problems.append(f"{name}: the name does not say what is in it")
        limit = rules["limits"].get(path.suffix)
        if limit is None or name in exceptions:
            continue
        lines = len(path.read_text(errors="replace").splitlines())
        if lines > limit:
            problems.append(f"{name}: {lines} lines (limit {limit})")
        if path.suffix == ".py":
            problems += long_functions(path, rules["function_limit"]["lines"])
    for name in exceptions:
        if not (ROOT / name).exists():
            problems.append(f"tools/sizes.toml: exception for {name}, which does not exist")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
