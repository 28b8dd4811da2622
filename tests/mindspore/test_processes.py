"""Runs the tests that need MindSpore, each file in a process of its own, under a timeout."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
LIMIT = ["timeout", "-k", "5", "120"]


def run(*arguments, cwd, **env):
    return subprocess.run(
        [*LIMIT, sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "name, msadapter",
    [
        ("plain_recorded.py", False),
        ("plain_gradients.py", False),
        ("msadapter_recorded.py", True),
        ("seeds.py", False),
        ("seeds_msadapter.py", True),
    ],
)
def test_file(name, msadapter, tmp_path):
    env = {"MSPROBE_TEST_MSADAPTER": "1"} if msadapter else {}
    done = run("-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", HERE / name,
               cwd=tmp_path, **env)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert passed and int(passed.group(1)) > 0


# The scripts of the guide, as they stand: docs/collecting-mindspore.md.
SCRIPTS = HERE.parent.parent / "examples"


@pytest.mark.parametrize("step, steps", [([], [0, 1, 2]), ([0, 1], [0, 1])])
def test_script_of_the_guide(step, steps, tmp_path):
    (tmp_path / "net.py").write_text((SCRIPTS / "mindspore_msadapter.py").read_text())
    (tmp_path / "config.json").write_text(json.dumps({
        "task": "statistics", "dump_path": "./output", "rank": [], "step": step, "level": "L0",
        "statistics": {"scope": [], "list": [], "data_mode": ["all"],
                       "summary_mode": "statistics"}}))
    start = "import sys, runpy; sys.path.insert(0, sys.argv[1]); import msadapter_cpu_env; "
    done = run("-c", start + "runpy.run_path('net.py', run_name='__main__')", HERE, cwd=tmp_path)
    assert len(list((tmp_path / "output").iterdir())) == len(steps)
    for number in steps:
        directory = tmp_path / "output" / f"step{number}"
        assert f"dump.json is at {directory}" in done.stdout
        (unit,) = directory.iterdir()
        assert unit.name.startswith("proc")
        data = json.loads((unit / "dump.json").read_text())["data"]
        assert list(data) == [
            "Module.linear1.Linear.forward.0", "Module.linear2.Linear.forward.0",
            "Module.linear2.Linear.backward.0", "Module.linear1.Linear.backward.0"]
    assert "msprobe ends successfully." in done.stdout


@pytest.fixture(scope="module")
def cli():
    path = os.environ.get("MSPROBE_CLI", str(HERE.parent.parent / "build" / "bin" / "msprobe"))
    if not os.path.exists(path):
        pytest.skip("the command line tool is not built, or MSPROBE_CLI does not name it")
    return path


@pytest.mark.parametrize("fault", [False, True])
def test_compare_with_pytorch(cli, fault, tmp_path):
    """The same model with the same weights, recorded under PyTorch and under MSAdapter."""
    done = run(HERE / "cross_dump.py", tmp_path, *(["fault"] if fault else []), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pair = tmp_path / "compare.json"
    pair.write_text(json.dumps({
        "npu_path": str(tmp_path / "dump" / "step0" / "rank0"),
        "bench_path": str(HERE / "data" / "pytorch"), "is_print_compare_log": True}))
    done = subprocess.run(
        [cli, "-f", "mindspore", "graph", "-i", str(pair), "-o", str(tmp_path / "out"), "--json"],
        capture_output=True, text=True, check=True)
    total = json.loads(done.stdout)["units"][0]
    assert total["golden"]["matched"] == total["golden"]["nodes"] == 60
    if not fault:
        assert total["target"]["unmatched"] == 0
        assert total["bands"] == [60, 0, 0, 0, 0]
        assert total["culprits"] == 0
    else:
        names = [culprit["name"] for culprit in total["first_culprits"]]
        assert names == ["Module.blocks.1.down.Linear.forward.0"]
