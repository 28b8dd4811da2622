"""Writes outputs of every mode with the command line tool and serves them with TensorBoard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from plugin_client import Plugin, running_tensorboard  # noqa: E402

CASES = ROOT / "tests" / "golden" / "cases" / "graph"
CLI = Path(os.environ.get("MSPROBE_CLI", ROOT / "build" / "bin" / "msprobe"))
FORMATS = ("vis", "db")


@dataclass(frozen=True)
class Written:
    """The output directory of one run: the plugin shows it under its name."""

    directory: Path

    @property
    def run(self) -> str:
        return self.directory.name

    @property
    def files(self) -> list[Path]:
        # The plugin leaves SQLite's -wal and -shm beside a database.
        return sorted(p for p in self.directory.iterdir() if p.suffix in (".vis", ".db"))

    @property
    def file(self) -> Path:
        (only,) = self.files
        return only


def run_cli(*arguments: str | Path, cwd: Path | None = None) -> None:
    command = [str(CLI), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)


def structure_only(source: Path, target: Path) -> None:
    """A copy of a dump as task `structure` writes it: no statistics."""
    shutil.copytree(source, target)
    dump = json.loads((target / "dump.json").read_text())
    dump["task"] = "structure"
    dump["data"] = _without_statistics(dump["data"])
    (target / "dump.json").write_text(json.dumps(dump, indent=1))


def _without_statistics(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_statistics(item) for item in value]
    if isinstance(value, dict):
        statistics = ("Max", "Min", "Mean", "Norm")
        return {key: _without_statistics(v) for key, v in value.items() if key not in statistics}
    return value


HOSTILE_NAMES = (
    "Torch.<script>alert(1)<", "Torch.quote\"back\\slash'", "Torch.卷积层", "Torch." + "n" * 10_000,
    "Torch.tab\tline\n",
)  # fmt: skip


def hostile_dump(target: Path) -> None:
    """Names that a viewer might take for something else than text; NaN and infinite values."""
    names = [f"{name}.0.forward" for name in HOSTILE_NAMES]
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2]}
    tensor |= {"Max": float("nan"), "Min": float("-inf"), "Mean": 1e-300, "Norm": float("inf")}
    record = {"input_args": [tensor], "input_kwargs": {"<b>": tensor}, "output": [tensor]}
    head = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": ""}
    target.mkdir(parents=True)
    (target / "dump.json").write_text(json.dumps(head | {"data": dict.fromkeys(names, record)}))
    (target / "construct.json").write_text(json.dumps(dict.fromkeys(names)))
    frame = 'File "x".py, line 1, in f, \n <img src=x>'
    (target / "stack.json").write_text(json.dumps({"0": [names, [frame]]}))


def micro_step_dump(target: Path) -> None:
    """Two micro steps: forward and backward, twice."""
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2]}
    tensor |= {"Max": 1.0, "Min": 1.0, "Mean": 1.0, "Norm": 1.0}
    data: dict[str, Any] = {}
    for call in (0, 1):
        data[f"Module.a.A.forward.{call}"] = {
            "input_args": [tensor], "input_kwargs": {}, "output": [tensor],
        }  # fmt: skip
        data[f"Module.a.A.backward.{call}"] = {"input": [tensor], "output": [tensor]}
    head = {"task": "statistics", "level": "L0", "framework": "pytorch", "dump_data_dir": ""}
    target.mkdir(parents=True)
    (target / "dump.json").write_text(json.dumps(head | {"data": data}))
    (target / "construct.json").write_text(json.dumps(dict.fromkeys(data)))
    (target / "stack.json").write_text("{}")


class OutputMaker:
    """Runs the tool once for every case and format that a test asks for."""

    def __init__(self, logdir: Path, scratch: Path) -> None:
        self.logdir = logdir
        self._inputs = scratch

    def make_all(self) -> None:
        for name, (target, golden, options) in self._sources().items():
            for file_format in FORMATS:
                sides = [target] if golden is None else [target, golden]
                out = self.logdir / f"{name}-{file_format}"
                run_cli("graph", *sides, "-o", out, "--format", file_format, *options)

    def written(self, name: str, file_format: str) -> Written:
        return Written(self.logdir / f"{name}-{file_format}")

    def _sources(self) -> dict[str, tuple[Path, Path | None, list[str]]]:
        sources: dict[str, tuple[Path, Path | None, list[str]]] = {}
        for name, case in (
            ("statistics", "cmp_stat"), ("md5", "cmp_md5"), ("real_data", "cmp_tensor"),
            ("unmatched", "cmp_unmatched"), ("ranks", "cmp_ranks"),
            ("by_hand", "cmp_stat"), ("by_hand_md5", "cmp_md5"),
        ):  # fmt: skip
            source = CASES / case / "input"
            sources[name] = (source / "npu", source / "bench", [])
        sources["single"] = (CASES / "single_stat" / "input" / "npu", None, [])
        sources["overflow"] = (CASES / "single_overflow" / "input" / "npu", None, ["-oc"])
        pair = CASES / "cmp_stat" / "input"
        for side in ("npu", "bench"):
            structure_only(pair / side, self._inputs / "structure" / side)
            for step in (0, 1, 10):
                shutil.copytree(
                    pair / side, self._inputs / "steps" / side / f"step{step}" / "rank0"
                )
        for name in ("structure", "steps"):
            sources[name] = (self._inputs / name / "npu", self._inputs / name / "bench", [])
        hostile_dump(self._inputs / "hostile")
        sources["hostile"] = (self._inputs / "hostile", self._inputs / "hostile", ["-cs"])
        micro_step_dump(self._inputs / "micro_steps")
        sources["micro_steps"] = (self._inputs / "micro_steps", None, [])
        return sources


@pytest.fixture(scope="session")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> OutputMaker:
    assert CLI.is_file(), f"{CLI} is missing: build it, or set MSPROBE_CLI"
    base = tmp_path_factory.mktemp("plugin")
    logdir = base / "logdir"
    logdir.mkdir(mode=0o750)
    maker = OutputMaker(logdir, base / "input")
    maker.make_all()
    return maker


@pytest.fixture(scope="session")
def plugin(outputs: OutputMaker) -> Iterator[Plugin]:
    with running_tensorboard(outputs.logdir) as running:
        yield running
