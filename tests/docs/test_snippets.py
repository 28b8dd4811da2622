"""Every snippet of the documentation runs: shell, Python, JSON and YAML blocks of README.md, docs/ and examples/.

A block marked ```text is not run: a synopsis, or commands that another test runs; right below a shell block it
is part of what that prints. A block without a mark fails. Shell blocks find two dumps under every name that the
documents use; servers are started, must print their address, and are stopped. ./dev commands must exist. What a
YAML block says must be taken by the command that reads such a file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build/bin/msprobe"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
HERE = Path(__file__).resolve().parent
TARGETS = ("npu_dump", "new", "target", "dump", "./npu_dump")
GOLDENS = ("gpu_dump", "cpu_dump", "golden", "good1", "good2")
SHELLS = ("bash", "sh", "shell")
LANGUAGES = (*SHELLS, "python", "json", "yaml", "text")
# The first key of a file tells what it is; what has other keys is a layer mapping.
YAML_OPTIONS = {"allow": "--allow", "roundings": "--tolerance"}


class Snippet(NamedTuple):
    document: str
    line: int
    language: str
    text: str
    answer: str


def snippets() -> list[Snippet]:
    found = []
    for path in DOCUMENTS:
        text = path.read_text()
        for match in re.finditer(r"^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, re.M | re.S):
            line = text[: match.start()].count("\n") + 1
            answer = match[3] if match[1] in SHELLS else ""
            found.append(Snippet(str(path.relative_to(ROOT)), line, match[1], match[2], answer or ""))
    return found


def of(*languages: str) -> pytest.MarkDecorator:
    chosen = [item for item in snippets() if item.language in languages]
    return pytest.mark.parametrize("snippet", chosen, ids=lambda item: f"{item.document}:{item.line}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the sample dumps under the documents' names."""
    for name in TARGETS:
        shutil.copytree(ROOT / "examples/sample/target", tmp_path / name, dirs_exist_ok=True)
    for name in GOLDENS:
        shutil.copytree(ROOT / "examples/sample/golden", tmp_path / name)
    for path in (HERE / "files").glob("*"):
        shutil.copy(path, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/msprobe").symlink_to(CLI.resolve())
    subprocess.run([CLI, "graph", "npu_dump", "gpu_dump", "-o", "out"], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


@of(*SHELLS)
def test_shell(snippet: Snippet, folder: Path) -> None:
    script = re.sub(r"(^|\s)\./dev\b", r"\1dev_command", snippet.text, flags=re.M)
    prelude = (HERE / "prelude.sh").read_text()
    environment = os.environ | {"PATH": f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
                                "ROOT": str(ROOT), "MSPROBE_CLI": str(folder / "bin/msprobe")}
    done = subprocess.run(["bash", "-c", prelude + script], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False)
    assert done.returncode == 0, done.stdout
    assert snippet.answer in done.stdout


def test_the_worked_example_has_an_answer() -> None:
    assert [item.line for item in snippets() if item.document == "docs/locating.md" and item.answer]


@of("python")
def test_python(snippet: Snippet, folder: Path) -> None:
    mindspore = "mindspore" in snippet.text
    python = ROOT / ".venv-mindspore/bin/python" if mindspore else Path(sys.executable)
    if not python.exists():
        pytest.skip("no MindSpore environment: ./dev setup mindspore")
    setting = HERE / ("setting_mindspore.py" if mindspore else "setting_torch.py")
    (folder / "snippet.py").write_text(setting.read_text() + "\n" + snippet.text)
    done = subprocess.run([python, "snippet.py"], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=240, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_says_what_it_is(document: Path) -> None:
    fences = re.findall(r"^ *```.*$", document.read_text(), re.M)
    assert [fence for fence in fences[::2] if fence not in [f"```{language}" for language in LANGUAGES]] == []
    assert set(fences[1::2]) <= {"```"}


@of("yaml")
def test_yaml(snippet: Snippet, folder: Path) -> None:
    (folder / "snippet.yaml").write_text(snippet.text)
    keys = re.findall(r"^(\w+):", snippet.text, re.M)
    command = [CLI, "compare", "npu_dump", "gpu_dump", YAML_OPTIONS.get(keys[0], "-lm"), "snippet.yaml"]
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode in (0, 1), done.stdout


@of("json")
def test_json(snippet: Snippet) -> None:
    json.loads(snippet.text)
