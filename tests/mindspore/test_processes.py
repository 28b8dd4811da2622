"""Runs the tests that need MindSpore, each file in a process of its own, under a timeout."""

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
