"""The recipes of docs/ci-gate.md, on dumps that agree and on dumps that do not."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import CASES, program  # noqa: E402

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/ci-gate.md"
# What is new in a dump, where it lies beside its golden, and what the recipes name.
RUNS = {"same": ("table/diverged", "bench", ""),
        "culprit": ("table/diverged", "npu", "Functional.relu.0.forward"),
        "no culprit": ("gate/diverged", "npu", "Module.net.fc1.Linear.forward.0")}


def snippet(heading: str, language: str) -> str:
    section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1]
    return re.search(rf"^```{language}\n(.*?)^```", section, re.M | re.S)[1]


@pytest.fixture(params=RUNS)
def folder(request, tmp_path):
    """Dumps called new and golden, and the node that is named if they differ."""
    case, new, name = RUNS[request.param]
    shutil.copytree(CASES / case / "input" / new, tmp_path / "new")
    shutil.copytree(CASES / case / "input/bench", tmp_path / "golden")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/msprobe").symlink_to(program())
    return tmp_path, name


def run(command, folder):
    path = f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, text=True,
                          capture_output=True, check=False)


def test_workflow(folder):
    folder, name = folder
    script = snippet("In a workflow", "bash").replace("# exit $status", "exit $status #")
    done = run(["bash", "-c", script], folder)
    assert done.returncode == (1 if name else 0), done.stderr
    assert done.stdout == (f"diverged\n{name}\n" if name else "what was compared agrees\n")
    assert 'failures="1"' in (folder / "report.xml").read_text() or not name
    assert len(list((folder / "tables").glob("compare_result_*"))) == 2


def test_pytest_recipe(folder):
    pytest.importorskip("msprobe")
    folder, name = folder
    (folder / "test_numbers.py").write_text(snippet("In pytest", "python"))
    done = run([sys.executable, "-m", "pytest", "-q", "test_numbers.py"], folder)
    assert done.returncode == (1 if name else 0), done.stdout
    assert name in done.stdout


def test_allow_list(tmp_path):
    for side in ("npu", "bench"):
        shutil.copytree(CASES / "gate/junit/input" / side, tmp_path / side)
    (tmp_path / "skips.yaml").write_text(snippet("Known skips", "yaml"))
    done = run([str(program()), "compare", "npu", "bench", "--allow", "skips.yaml"], tmp_path)
    assert done.returncode == 1 and "3 nodes not in the allow-list" in done.stderr
    assert "need not name '*.dropout.*' any more" in done.stderr
