#!/usr/bin/env python3
"""Checks that arrows between folders point down only: C++, Python and TypeScript.

Reads tools/layers.toml, and compares it with what CMake links and with the table in ARCHITECTURE.md.
Also checks that every src folder has a short README. Prints one line per violation; exit status 1 if
there is any.
"""

import ast
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
LAYER = re.compile(r"^msprobe_layer\((\w+)(?:\s+DEPS((?:\s+(?!LIBS\b)\w+)+))?", re.MULTILINE)
LINKED = re.compile(r"^target_link_libraries\(([^)]*)\)", re.MULTILINE)
TABLE_ROW = re.compile(r"^\| `(\S+)` \| .* \| (.*) \|$", re.MULTILINE)
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
    for folder in sorted(path.name for path in root.iterdir() if path.is_dir()):
        if folder not in allowed:
            problems.append(f"{rules['root']}/{folder}: not in tools/layers.toml")
        readme = root / folder / "README.md"
        if not readme.exists():
            problems.append(f"{rules['root']}/{folder}: has no README.md")
        elif len(readme.read_text().splitlines()) > 15:
            problems.append(f"{readme.relative_to(ROOT)}: longer than 15 lines")
        problems += check_includes(root / folder, folder, allowed.get(folder, {folder}), rules)
    for folder, layers in rules["fronts"].items():
        reachable = set().union(*(allowed[layer] for layer in layers))
        problems += check_includes(ROOT / folder, folder, reachable, rules)
    return problems


def check_includes(root: pathlib.Path, folder: str, allowed: set[str], rules: dict) -> list[str]:
    problems = []
    for path in sorted([*root.rglob("*.cc"), *root.rglob("*.h")]):
        for header in INCLUDE.findall(path.read_text(errors="replace")):
            first = header.split("/")[0]
            if first in rules["layers"] and first not in allowed:
                problems.append(f"{path.relative_to(ROOT)}: {folder} must not use {first} ({header})")
            for prefix, folders in rules["third_party"].items():
                if header.startswith(prefix) and folder not in folders:
                    problems.append(f"{path.relative_to(ROOT)}: {header} belongs to {', '.join(folders)} only")
    return problems


def check_cmake(rules: dict) -> list[str]:
    """What CMake links: the DEPS of every layer, and the layers that a front names."""
    problems = []
    root = ROOT / rules["root"]
    linked = {}
    for path in sorted(root.glob("*/CMakeLists.txt")):
        for name, dependencies in LAYER.findall(path.read_text()):
            linked[f"{rules['root']}/{name}"] = set(dependencies.split())
    for folder in rules["fronts"]:
        calls = LINKED.findall((ROOT / folder / "CMakeLists.txt").read_text())
        words = {word.removeprefix("msprobe_") for call in calls for word in call.split()[1:]}
        linked[folder] = words & rules["layers"].keys()
    for folder, expected in declared(rules).items():
        if linked.get(folder) != expected:
            found = "no layer" if folder not in linked else listed(linked[folder])
            problems.append(f"{folder}/CMakeLists.txt: {found}, but tools/layers.toml says {listed(expected)}")
    return problems


def check_table(rules: dict) -> list[str]:
    """The last column of the folders in ARCHITECTURE.md."""
    problems = []
    rows = dict(TABLE_ROW.findall((ROOT / "ARCHITECTURE.md").read_text()))
    for folder, expected in declared(rules).items():
        if folder not in rows:
            problems.append(f"{folder}: missing from the table in ARCHITECTURE.md")
        elif set(re.findall(r"\w+", rows[folder])) != expected:
            problems.append(f"ARCHITECTURE.md: {folder} stands on {rows[folder]}, "
                            f"but tools/layers.toml says {listed(expected)}")  # fmt: skip
    return problems


def declared(rules: dict) -> dict[str, set[str]]:
    layers = {f"{rules['root']}/{name}": set(names) for name, names in rules["layers"].items()}
    return layers | {folder: set(names) for folder, names in rules["fronts"].items()}


def listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


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
    cpp = rules["cpp"]
    problems = check_cpp(cpp) + check_cmake(cpp) + check_table(cpp)
    problems += check_python(rules["python"]) + check_web(rules["web"])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
