#!/usr/bin/env python3
"""Golden tests: runs the real msprobe over tests/golden/cases and compares all that it gives.

usage: run.py [--rebaseline] [--list] [SUBSTRING ...]

A case is cases/<area>/<name>/ with
  case.toml   summary (the rule), run (command lines, each run by a shell-like split), and
              optionally: prepare (shell lines run in the scratch copy first, $MSPROBE is the
              program), values ("all" or
              node names whose data is shown), file_size_limit (bytes), [[difference]]
  input/      copied into a scratch directory, where the commands run
  peer.json   optional: what another tool made of the same input (see observed.py)
  expected/   console.txt: exit code, standard output, standard error and files of each command;
              <file>.txt: the written .vis and .vis.db, tables and reports as text
The program is $MSPROBE_CLI, else build/bin/msprobe.
"""
import argparse
import difflib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
sys.path.insert(0, str(HERE))

from observed import compare_with_peer  # noqa: E402
from projection import project_db, project_vis, project_xlsx  # noqa: E402
from schema_check import schema_problems  # noqa: E402

TIMEOUT_SECONDS = 120
SCHEMA_OF = {"graph": "graph_summary", "graph_visualize": "graph_summary", "inspect": "inspect",
             "compare": "compare", "overflow": "overflow", "query": "query", "view": "view",
             "completion": "completion"}


def program() -> Path:
    return Path(os.environ.get("MSPROBE_CLI") or HERE.parents[1] / "build/bin/msprobe").resolve()


def discover() -> list:
    return sorted(path.parent for path in CASES.glob("*/*/case.toml"))


def normalise(text: str, scratch: Path) -> str:
    text = text.replace(str(scratch), "<work>")
    text = re.sub(r"_20\d{12}(?=[._])", "_<time>", text)
    text = re.sub(r"\.tmp\d+_\d+", ".tmp<n>", text)
    text = re.sub(r"\b\d+\.\d{3} s\b", "<n> s", text)
    text = re.sub(r'"seconds": ?[0-9.e-]+', '"seconds": <n>', text)
    text = re.sub(r' time="[0-9.]+"', ' time="<n>"', text)
    return text


def sorted_when_parallel(text: str, units: bool) -> str:
    """Ranks are worked on side by side: their start and done lines come in any order."""
    if not units:
        return text
    lines = text.splitlines(keepends=True)
    moving = [line for line in lines if re.match(r"\[INFO\] (start|done) ", line)]
    return "".join(sorted(moving)) + "".join(line for line in lines if line not in moving)


def list_files(scratch: Path, before: set) -> str:
    lines = []
    for path in sorted(scratch.rglob("*")):
        relative = path.relative_to(scratch)
        if relative in before:
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        lines.append(f"{mode:04o} {relative}{'/' if path.is_dir() else ''}\n")
    return "".join(lines)


class Case:
    def __init__(self, directory: Path):
        self.directory = directory
        self.name = str(directory.relative_to(CASES))
        self.problems = []
        self.config = tomllib.loads((directory / "case.toml").read_text())
        known = {"summary", "run", "prepare", "values", "file_size_limit", "difference"}
        unknown = set(self.config) - known
        if unknown or not self.config.get("summary") or not self.config.get("run"):
            raise ValueError(f"{self.name}: case.toml needs summary and run; unknown: {unknown}")

    def _run_command(self, line: str, scratch: Path) -> str:
        limit = self.config.get("file_size_limit")

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        words = shlex.split(line)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        for key in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if key in os.environ:
                environment[key] = os.environ[key]
        done = subprocess.run([str(program()), *words[1:]], cwd=scratch, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS, preexec_fn=limit_files, check=False)
        if "--json" in words and done.returncode in (0, 1, 3):
            schema = next(SCHEMA_OF[word] for word in words if word in SCHEMA_OF)
            self.problems += schema_problems(done.stdout.decode(), schema)
        out = normalise(done.stdout.decode("utf-8", "backslashreplace"), scratch)
        err = normalise(done.stderr.decode("utf-8", "backslashreplace"), scratch)
        err = sorted_when_parallel(err, err.count("[INFO] start ") > 1)
        text = f"$ {line}\nexit {done.returncode}\n"
        if out:
            text += "--- stdout\n" + out
        if err:
            text += "--- stderr\n" + err
        return text

    def actual(self, scratch: Path) -> tuple:
        """({file of expected/: text}, problems)."""
        if (self.directory / "input").is_dir():
            shutil.copytree(self.directory / "input", scratch, dirs_exist_ok=True, symlinks=True)
        for line in self.config.get("prepare", []):
            subprocess.run(["sh", "-euc", line], cwd=scratch, check=True,
                           env={**os.environ, "MSPROBE": str(program())})
        before = {path.relative_to(scratch) for path in scratch.rglob("*")}
        console = "".join(self._run_command(line, scratch) for line in self.config["run"])
        console += "--- files\n" + normalise(list_files(scratch, before), scratch)
        texts = {"console.txt": console}
        written = [path for path in sorted(scratch.rglob("*.vis*"))
                   if path.relative_to(scratch) not in before]
        shown = self.config.get("values", [])
        for path in written:
            name = re.sub(r"_20\d{12}", "", path.name) + ".txt"
            if path.parent.name != "out":
                name = path.parent.name + "_" + name
            project = project_db if path.name.endswith(".db") else project_vis
            texts[name] = normalise(project(path, shown), scratch)
        texts |= self._tables(scratch, before)
        problems = self.problems
        peer = self.directory / "peer.json"
        if peer.exists():
            problems = compare_with_peer(written, json.loads(peer.read_text()),
                                         self.config.get("difference", []))
        return texts, problems

    def _tables(self, scratch: Path, before: set) -> dict:
        """What compare and --junit wrote: text as it is, workbooks as lines of their cells."""
        texts = {}
        for path in sorted([*scratch.rglob("compare_result*"), *scratch.rglob("*.xml")]):
            if path.relative_to(scratch) in before:
                continue
            name = re.sub(r"_20\d{12}", "", path.name) + ".txt"
            if path.parent.name != "out":
                name = path.parent.name + "_" + name
            text = project_xlsx(path) if path.suffix == ".xlsx" else path.read_text()
            if path.suffix == ".json":
                self.problems += schema_problems(text, "compare")
            texts[name] = normalise(text, scratch)
        return texts

    def check(self, rebaseline: bool = False) -> list:
        """Problems; an empty list is a pass."""
        with tempfile.TemporaryDirectory(prefix="golden_") as folder:
            texts, problems = self.actual(Path(folder).resolve())
        expected_directory = self.directory / "expected"
        if rebaseline:
            shutil.rmtree(expected_directory, ignore_errors=True)
            expected_directory.mkdir()
            for name, text in texts.items():
                (expected_directory / name).write_text(text)
            return problems
        present = {path.name for path in expected_directory.glob("*")}
        for name in sorted(present | set(texts)):
            expected = expected_directory / name
            before = expected.read_text() if expected.exists() else ""
            after = texts.get(name, "")
            if before != after:
                problems.append("".join(difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True),
                    f"expected/{name}", "actual", n=2)))
        return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rebaseline", action="store_true", help="write what came out as expected")
    parser.add_argument("--list", action="store_true", help="print the cases and their rules")
    parser.add_argument("substrings", nargs="*", help="only cases whose name holds one of these")
    options = parser.parse_args()
    cases = [Case(directory) for directory in discover()]
    if options.substrings:
        cases = [case for case in cases if any(s in case.name for s in options.substrings)]
    if options.list:
        for case in cases:
            print(f"{case.name}: {case.config['summary']}")
        return 0
    if not cases:
        print("no such case", file=sys.stderr)
        return 2
    if not program().exists():
        print(f"build msprobe first, or set MSPROBE_CLI: there is no {program()}", file=sys.stderr)
        return 2
    failed = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for case, problems in zip(cases, pool.map(lambda c: c.check(options.rebaseline), cases)):
            if problems:
                failed += 1
                print(f"FAILED {case.name}: {case.config['summary']}")
                print("\n".join(problems))
    print(f"{len(cases)} golden cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
