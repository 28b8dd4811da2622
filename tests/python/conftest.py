"""Runs a piece of a program under the collector, and gives what it has written."""

import io
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import pytest

os.environ["MSPROBE_STRICT"] = "1"
torch = pytest.importorskip("torch")
pytest.importorskip("msprobe._core", reason="msprobe is not installed")

from msprobe.pytorch import PrecisionDebugger  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from dump_directory import Dump, described_tensors, read_dump, units, write_config  # noqa: E402, F401

torch.set_num_threads(1)


watches_memory = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                                    reason="AddressSanitizer keeps memory that has been freed")


def needs_safe_loading(dtype):
    """Skips where torch does not write or load its own files of a dtype (weights_only)."""
    buffer = io.BytesIO()
    try:
        torch.save(torch.zeros(1).to(dtype), buffer)
        buffer.seek(0)
        torch.load(buffer, weights_only=True)
    except (pickle.UnpicklingError, KeyError):
        pytest.skip(f"this torch has no files of {dtype}")


@pytest.fixture
def debugger(tmp_path):
    """debugger(level=…, task=…, top={…}, list=[…]) constructs a PrecisionDebugger."""
    PrecisionDebugger._forget()

    def make(**config):
        return PrecisionDebugger(config_path=write_config(tmp_path, **config))

    yield make
    PrecisionDebugger._forget()


@pytest.fixture
def collect(tmp_path, debugger):
    """collect(function, model, level=…) runs function() as one step and gives its Dump."""

    def run(function, model=None, **config):
        d = debugger(**config)
        d.start(model)
        try:
            function()
        finally:
            d.stop()
            d.step()
            PrecisionDebugger._forget()
        return read_dump(tmp_path / "dump")

    return run


@pytest.fixture
def run_script(tmp_path):
    """run_script(code) runs it in a process of its own, in tmp_path."""

    def run(code, *args, check=True, timeout=120, env=None):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code))
        result = subprocess.run(
            [sys.executable, str(script), *map(str, args)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )
        if check:
            assert result.returncode == 0, result.stdout + result.stderr
        return result

    return run
