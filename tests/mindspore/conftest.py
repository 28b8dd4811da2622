"""Tests that import MindSpore run in processes of their own: see test_processes.py.

In such a process `collect(function, model, level=…)` runs function() as one step of the collector
and gives what it has written.
"""

import json
import os
import pathlib
import sys

import pytest

os.environ["MSPROBE_STRICT"] = "1"
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
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


class Dump:
    """One step<N>/{rank<R>,proc<PID>}."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.all = self._read("dump.json")
        self.data = self.all.get("data", {})
        self.stack = self._read("stack.json")
        self.construct = self._read("construct.json")
        self.ledger = self._read("ledger.json")

    def _read(self, name):
        path = self.directory / name
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def names(self):
        return list(self.data)

    def tensor(self, description):
        import numpy

        return numpy.load(self.directory / "dump_tensor_data" / description["data_name"])


def read_dump(root, step=0):
    (unit,) = sorted((pathlib.Path(root) / f"step{step}").iterdir())
    return Dump(unit)


def write_config(directory, *, task="statistics", level="mix", top=None, **section):
    config = {"task": task, "level": level, "dump_path": str(pathlib.Path(directory) / "dump")}
    config.update(top or {})
    config[task] = section
    path = pathlib.Path(directory) / "config.json"
    path.write_text(json.dumps(config))
    return str(path)


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
