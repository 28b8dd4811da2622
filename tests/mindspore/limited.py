"""Processes with MindSpore in them: always under a timeout, as their exit has been seen to hang."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def run(*arguments, cwd, **env):
    return subprocess.run(
        ["timeout", "-k", "5", "300", sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
