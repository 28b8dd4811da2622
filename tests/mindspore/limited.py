"""Processes with MindSpore in them: always under a timeout, as their exit has been seen to hang."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def start(*arguments, cwd, **env):
    return subprocess.Popen(
        ["timeout", "-k", "5", "300", sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def run(*arguments, cwd, **env):
    return finish(start(*arguments, cwd=cwd, **env))
