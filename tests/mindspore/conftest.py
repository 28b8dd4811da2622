"""Tests that import MindSpore run in processes of their own: see test_processes.py.

In such a process `collect(function, model, level=…)` runs function() as one step of the collector
and gives what it has written.
"""

import os
import pathlib
import sys

import pytest

os.environ["MSPROBE_STRICT"] = "1"
HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from dump_directory import read_dump, write_config  # noqa: E402

if "MSPROBE_TEST_MSADAPTER" in os.environ:
    import msadapter_cpu_env  # noqa: F401
    import torch  # noqa: F401


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """MindSpore has been seen to hang when its process ends."""
    status = getattr(config, "msprobe_status", None)
    if "mindspore" in sys.modules and status is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status))


def pytest_sessionfinish(session, exitstatus):
    session.config.msprobe_status = exitstatus


@pytest.fixture
def debugger(tmp_path):
    from msprobe.mindspore import PrecisionDebugger

    PrecisionDebugger._forget()
    yield lambda **config: PrecisionDebugger(config_path=write_config(tmp_path, **config))
    PrecisionDebugger._forget()


@pytest.fixture
def collect(tmp_path, debugger):
    def run(function, model=None, steps=1, start={}, **config):
        from msprobe.mindspore import PrecisionDebugger

        d = debugger(**config)
        for _ in range(steps):
            d.start(model, **start)
            try:
                function()
            finally:
                d.stop()
                d.step()
        PrecisionDebugger._forget()
        if steps == 1:
            return read_dump(tmp_path / "dump")
        return [read_dump(tmp_path / "dump", step) for step in range(steps)]

    return run
