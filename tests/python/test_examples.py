"""The examples run, and other tools read what they write."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import Dump, units

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "pytorch"


def _run(name, directory):
    subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), str(directory)], check=True,
                   cwd=directory.parent, timeout=240, stdout=subprocess.DEVNULL)


def _command():
    """The command of the same installation, or of the build."""
    beside = pathlib.Path(sys.executable).with_name("msprobe")
    return os.environ.get("MSPROBE_CLI") or (beside if beside.exists() else shutil.which("msprobe"))


@pytest.fixture(scope="module")
def gpt_dump(tmp_path_factory):
    dump = tmp_path_factory.mktemp("gpt") / "dump"
    _run("gpt", dump)
    return dump


def test_gpt(gpt_dump):
    first, second = (Dump(units(gpt_dump, step)[0]) for step in (0, 1))
    assert first.names == second.names and "optimizer" in first.construct


def test_resnet(tmp_path):
    (tmp_path / "out").mkdir()
    _run("resnet", tmp_path / "out")
    dump = Dump(units(tmp_path / "out" / "dump")[0])
    assert "Module.1.Block.backward.0" in dump.names
    assert any((dump.directory / "dump_tensor_data").iterdir())


def test_ddp(tmp_path):
    _run("ddp", tmp_path / "dump")
    assert [u.name for u in units(tmp_path / "dump", 1)] == ["rank0", "rank1"]


def test_inference(tmp_path):
    _run("inference", tmp_path / "dump")
    names = Dump(units(tmp_path / "dump")[0]).names
    assert [n for n in names if n.startswith("Module.head.")] == [
        "Module.head.Linear.forward.0", "Module.head.Linear.forward.1"]


@pytest.mark.skipif(not _command(), reason="there is no msprobe command")
def test_our_graph_reads_the_dumps(gpt_dump, tmp_path):
    result = subprocess.run([_command(), "graph", "-tp", str(gpt_dump), "-o",
                             str(tmp_path / "out")], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    assert list((tmp_path / "out").rglob("*.vis*"))


@pytest.mark.skipif(not _command(), reason="there is no msprobe command")
def test_the_recorded_sample_leads_to_its_fault(tmp_path):
    _run("record_sample", tmp_path / "sample")
    result = subprocess.run(
        [_command(), "graph", str(tmp_path / "sample/target"), str(tmp_path / "sample/golden"), "-o",
         str(tmp_path / "out")], capture_output=True, text=True, timeout=120)
    assert "first divergence: Tensor.mul.1.forward" in result.stdout, result.stdout + result.stderr
    assert "examples/pytorch/record_sample.py" in result.stdout  # no path of this machine


@pytest.mark.skipif(not os.environ.get("MSPROBE_PEER_PYTHONPATH"),
                    reason="MSPROBE_PEER_PYTHONPATH names no installation of mindstudio-probe")
def test_the_peers_graph_visualize_reads_the_dumps(gpt_dump, tmp_path):
    unit = units(gpt_dump)[0]
    code = ("import sys; from msprobe.msprobe import main; "
            f"sys.argv=['msprobe','graph_visualize','-tp',{str(unit)!r},'-o',{str(tmp_path / 'out')!r}]; main()")
    env = {**os.environ, "PYTHONPATH": os.environ["MSPROBE_PEER_PYTHONPATH"]}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True,
                            timeout=240)
    assert list((tmp_path / "out").rglob("*.vis*")), result.stdout + result.stderr
    assert json.loads((unit / "dump.json").read_text())["framework"] == "pytorch"
