#!/usr/bin/env python3
"""Checks that arrows between folders point down only: C++, Python and TypeScript.

Reads tools/layers.toml. Also checks that every src folder stands in ARCHITECTURE.md and has a
short README. Prints one line per violation; exit status 1 if there is any.
"""

import ast
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]""")


def closure(layers: dict[str, list[str]]) -> dict[str, set[str]]:
    reachable: dict[str, set[str]] = {}

    def visit(name: str) -> set[str]:
        if name not in reachable:
            reachable[name] = {name}
            for dependency in layers[name]:
                reachable[name] |= visit(dependency)
        return reachable[name]

    for layer in layers:
        visit(layer)
    return reachable


def check_cpp(rules: dict) -> list[str]:
    problems = []
    root = ROOT / rules["root"]
    allowed = closure(rules["layers"])
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    for folder in sorted(path.name for path in root.iterdir() if path.is_dir()):
        if folder not in allowed:
            problems.append(f"{rules['root']}/{folder}: not in tools/layers.toml")
        if f"src/{folder}" not in architecture:
            problems.append(f"{rules['root']}/{folder}: missing from the table in ARCHITECTURE.md")
        readme = root / folder / "README.md"
        if not readme.exists():
            problems.append(f"{rules['root']}/{folder}: has no README.md")
        elif len(readme.read_text().splitlines()) > 15:
            problems.append(f"{readme.relative_to(ROOT)}: longer than 15 lines")
    for path in sorted([*root.rglob("*.cc"), *root.rglob("*.h")]):
        folder = path.relative_to(root).parts[0]
        for header in INCLUDE.findall(path.read_text(errors="replace")):
            first = header.split("/")[0]
            if first in allowed and first not in allowed.get(folder, {first}):
                problems.append(f"{path.relative_to(ROOT)}: {folder} must not use {first} ({header})")
            for prefix, folders in rules["third_party"].items():
                if header.startswith(prefix) and folder not in folders:
                    problems.append(f"{path.relative_to(ROOT)}: {header} belongs to {', '.join(folders)} only")
    return problems


def imported_modules(path: pathlib.Path, package: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parents = parts[: len(parts) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def check_python(rules: dict) -> list[str]:
    problems = []
    root = ROOT / rules["root"]
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        folder = relative.parts[0] if len(relative.parts) > 1 else "."
        package = ".".join(["msprobe", *relative.parent.parts])
        for name in sorted(imported_modules(path, package)):
            for forbidden in rules["forbidden"].get(folder, []):
                if name == forbidden or name.startswith(forbidden + "."):
                    problems.append(f"{path.relative_to(ROOT)}: must not import {name}")
    return problems


def check_web(rules: dict) -> list[str]:
    problems = []
    root = ROOT / rules["root"]
    allowed = closure(rules["layers"])
    for path in sorted([*root.rglob("*.ts"), *root.rglob("*.tsx")]):
        relative = path.relative_to(root)
        if len(relative.parts) == 1 or ".test." in path.name:
            continue
        folder = relative.parts[0]
        if folder not in allowed:
            problems.append(f"{path.relative_to(ROOT)}: folder {folder} is not in tools/layers.toml")
            continue
        for target in IMPORT.findall(path.read_text()):
            resolved = (path.parent / target).resolve()
            if not resolved.is_relative_to(root):
                continue
            other = resolved.relative_to(root).parts[0]
            if other in allowed and other not in allowed[folder]:
                problems.append(f"{path.relative_to(ROOT)}: {folder} must not use {other} ({target})")
    return problems


def main() -> int:
    rules = tomllib.loads((ROOT / "tools/layers.toml").read_text())
    problems = check_cpp(rules["cpp"]) + check_python(rules["python"]) + check_web(rules["web"])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
