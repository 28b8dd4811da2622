"""Runs a model under the collector, and makes the three kinds of dumps of one run."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
from typing import Any, Callable

from msprobe.pytorch import PrecisionDebugger

MODES = ("statistics", "md5", "tensor")


def record(directory: pathlib.Path, model: Any, run: Callable[[], None], rank: Any = None) -> None:
    """directory/all gets a dump with tensors, statistics and checksums of `run()`."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    config = {"task": "tensor", "level": "mix", "dump_path": str(directory / "all"),
              "tensor": {"summary_mode": "md5", "file_format": "npy"}}
    (directory / "config.json").write_text(json.dumps(config))
    PrecisionDebugger._forget()
    with contextlib.redirect_stdout(io.StringIO()):  # a word of goodbye for each
        _collect(directory, model, run, rank)


def _collect(directory: pathlib.Path, model: Any, run: Callable[[], None], rank: Any) -> None:
    debugger = PrecisionDebugger(config_path=str(directory / "config.json"))
    debugger.start(model, rank_id=rank)
    try:
        run()
    finally:
        debugger.stop()
        debugger.step()
        PrecisionDebugger._forget()


def unit_of(directory: pathlib.Path) -> pathlib.Path:
    (unit,) = (directory / "all" / "step0").iterdir()
    return unit


def derive_modes(directory: pathlib.Path) -> None:
    """The same run as if it had been collected by statistics, with checksums, with tensors."""
    unit = unit_of(directory)
    text = (unit / "dump.json").read_text()
    bare = re.sub(r',?\s*"md5"\s*:\s*"[^"]*"', "", text)
    texts = {
        "statistics": _without_files(bare),
        "md5": _without_files(text),
        "tensor": bare,
    }
    for mode in MODES:
        place = directory / mode
        place.mkdir(parents=True, exist_ok=True)
        (place / "dump.json").write_text(texts[mode])
        for name in ("stack.json", "construct.json"):
            os.link(unit / name, place / name)
    os.rename(unit / "dump_tensor_data", directory / "tensor" / "dump_tensor_data")
    shutil.rmtree(directory / "all")


def _without_files(text: str) -> str:
    text = re.sub(r'"task"\s*:\s*"tensor"', '"task": "statistics"', text, count=1)
    return re.sub(r',?\s*"data_name"\s*:\s*"[^"]*"', "", text)
