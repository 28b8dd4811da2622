"""The installed C++ package, seen from a program that knows nothing of this source tree."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MSPROBE_BUILD", ROOT / "build"))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip(f"no build of msprobe at {BUILD}; set MSPROBE_BUILD")
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--build", BUILD, "--target", "msprobe_library")
    run("cmake", "--install", BUILD, "--component", "cpp", "--prefix", prefix)
    build = tmp_path_factory.mktemp("example")
    run("cmake", "-G", "Ninja", "-S", ROOT / "examples/cpp_inference", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build / "cpp_inference"


def test_installs_no_internal_headers(example, tmp_path):
    run("cmake", "--install", BUILD, "--component", "cpp", "--prefix", tmp_path)
    headers = {path.relative_to(tmp_path / "include").as_posix()
               for path in (tmp_path / "include").rglob("*.h")}
    assert headers == {f"msprobe/{name}.h" for name in
                       ("status", "tensor_view", "statistics", "record_builder", "dump_writer",
                        "dump_reader", "compare")}


def test_records_an_inference_loop(example, tmp_path):
    run(example, tmp_path / "dump")
    for step in range(3):
        unit = tmp_path / "dump" / f"step{step}" / "rank0"
        dump = json.loads((unit / "dump.json").read_text())
        assert list(dump["data"]) == [
            "Module.encoder.linear.Linear.forward.0", "Module.encoder.relu.ReLU.forward.0",
            "Module.encoder.Encoder.forward.0", "Module.head.Linear.forward.0"]
        construct = json.loads((unit / "construct.json").read_text())
        assert list(construct)[0] == "Module.encoder.Encoder.forward.0"
        assert construct["Module.encoder.relu.ReLU.forward.0"] == "Module.encoder.Encoder.forward.0"
        for entry in dump["data"].values():
            for tensor in entry["input_args"] + entry["output"]:
                assert (unit / "dump_tensor_data" / tensor["data_name"]).is_file()
        ledger = json.loads((unit / "ledger.json").read_text())
        assert ledger["entries"] == {"seen": 4, "recorded": 4, "lost": 0, "skipped": {},
                                     "not_recordable": {}, "unaccounted": 0}


def test_refuses_to_mix_two_runs(example, tmp_path):
    run(example, tmp_path / "dump")
    again = subprocess.run([example, tmp_path / "dump"], capture_output=True, text=True)
    assert again.returncode == 1
    assert "earlier run" in again.stderr and "overwrite: true" in again.stderr


def test_dump_json_looks_as_pythons(example, tmp_path):
    run(example, tmp_path / "dump")
    for name in ("dump.json", "construct.json", "stack.json"):
        text = (tmp_path / "dump/step0/rank0" / name).read_text()
        assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False)


def test_the_library_compares_and_reads_what_was_recorded(example, tmp_path):
    run(example, tmp_path / "golden")
    run(example, tmp_path / "target", "1.5")
    compare = example.with_name("cpp_compare")
    same = run(compare, tmp_path / "golden/step0/rank0", tmp_path / "golden/step0/rank0")
    assert same == "4 of 4 nodes matched, 0 differ\n"
    command = [compare, tmp_path / "target/step1/rank0", tmp_path / "golden/step1/rank0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["4 of 4 nodes matched, 1 differ", "culprit: Module.head.Linear.forward.0"]
    assert [line.split(":")[0] for line in lines[2:]] == ["  target output.0", "  golden output.0"]
    assert lines[2].split(":")[1] != lines[3].split(":")[1]
    missing = subprocess.run([compare, tmp_path / "none", tmp_path / "golden/step0/rank0"],
                             capture_output=True, text=True)
    assert missing.returncode == 2 and str(tmp_path / "none") in missing.stderr


def test_graph_finds_the_fault(example, tmp_path):
    msprobe = Path(os.environ.get("MSPROBE_CLI") or BUILD / "bin/msprobe")
    if not msprobe.exists():
        pytest.skip("the msprobe command is not built")
    run(example, tmp_path / "golden")
    run(example, tmp_path / "target", "1.5")
    report = run(msprobe, "graph", tmp_path / "target", tmp_path / "golden", "-o",
                 tmp_path / "graph")
    assert report.count("first divergence: Module.head.Linear.forward.0") == 3
