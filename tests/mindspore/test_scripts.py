"""Programs as users write them, unchanged, on MSAdapter: only the CPU environment goes before."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pytest

from limited import HERE, run

SCRIPTS = HERE / "data" / "scripts"
EXAMPLE = HERE.parent.parent / "examples" / "mindspore_msadapter.py"
BEFORE = ("import sys, runpy; sys.path.insert(0, sys.argv[1]); import msadapter_cpu_env; "
          "runpy.run_path('net.py', run_name='__main__')")
FORWARD = ["Module.linear1.Linear.forward.0", "Module.linear2.Linear.forward.0"]
BACKWARD = ["Module.linear2.Linear.backward.0", "Module.linear1.Linear.backward.0"]
BANNER = ("*" * 76 + "\n*                        msprobe ends successfully."
          "                        *\n" + "*" * 76)


def run_script(script, config, directory, **env):
    """Runs it in `directory`; gives what it says and its steps, as (step<N>, unit, dump.json)."""
    (directory / "net.py").write_text(script.read_text())
    (directory / "config.json").write_text(json.dumps(config))
    done = run("-c", BEFORE, HERE, cwd=directory, **env)
    output = directory / "output"
    steps = []
    for step in sorted(output.iterdir()) if output.exists() else ():
        (unit,) = step.iterdir()
        steps.append((step.name, unit, json.loads((unit / "dump.json").read_text())))
    assert steps, done.stdout + done.stderr
    return done, steps


def config_of(name, section=None, **changes):
    config = json.loads((SCRIPTS / f"{name}.json").read_text())
    config.update(changes)
    if section is not None:
        config[config["task"]] = section
    return config


def tensors_of(value):
    if isinstance(value, dict) and "shape" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_of(item)


@pytest.mark.parametrize("script, name, count", [
    (SCRIPTS / "quick_start.py", "quick_start", 2),
    (SCRIPTS / "usage_example.py", "usage_example", 3),
    (EXAMPLE, "usage_example", 3),
])
def test_script_as_it_stands(script, name, count, tmp_path):
    done, steps = run_script(script, config_of(name), tmp_path)
    assert [step for step, _, _ in steps] == [f"step{n}" for n in range(count)]
    for step, unit, dump in steps:
        assert f"dump.json is at {tmp_path / 'output' / step}\n" in done.stdout
        assert re.fullmatch(r"proc\d+", unit.name)
        assert (dump["task"], dump["level"], dump["framework"]) == ("statistics", "L0", "mindtorch")
        assert list(dump["data"]) == FORWARD + BACKWARD
        for tensor in tensors_of(dump["data"]):
            assert (tensor["type"], tensor["dtype"]) == ("mindspore.Tensor", "Float32")
            assert tensor["Min"] <= tensor["Mean"] <= tensor["Max"] and tensor["Norm"] >= 0
            assert "data_name" not in tensor
        first = dump["data"]["Module.linear1.Linear.forward.0"]
        assert first["input_args"][0]["requires_grad"] is True  # grad_position=0
        second = dump["data"]["Module.linear2.Linear.forward.0"]
        assert second["input_args"][0]["shape"] == [10, 4]
        assert second["input_args"][0]["requires_grad"] is True
        assert second["input_kwargs"] == {}
        assert second["output"][0]["shape"] == [10, 2]
        assert {k: v["shape"] for k, v in second["parameters"].items()} == {
            "weight": [2, 4], "bias": [2]}
        backward = dump["data"]["Module.linear2.Linear.backward.0"]
        assert [t["shape"] for t in backward["input"] + backward["output"]] == [[10, 2], [10, 4]]
        construct = json.loads((unit / "construct.json").read_text())
        assert construct == dict.fromkeys(FORWARD + BACKWARD)
        stack = json.loads((unit / "stack.json").read_text())
        assert "net.py" in json.dumps(stack) and "site-packages/msprobe/" not in json.dumps(stack)
    assert done.stdout.rstrip().endswith(BANNER) and done.returncode == 0


def test_tensors_at_mix(tmp_path):
    config = config_of("usage_example", {}, task="tensor", level="mix", step=[1])
    _, [(step, unit, dump)] = run_script(SCRIPTS / "usage_example.py", config, tmp_path)
    assert step == "step1"
    folder = pathlib.Path(dump["dump_data_dir"])
    assert folder.samefile(unit / "dump_tensor_data")
    for file in ("Module.linear1.Linear.forward.0.input.0.npy",
                 "Module.linear1.Linear.forward.0.parameters.weight.npy",
                 "Module.linear2.Linear.backward.0.output.0.npy",
                 "Functional.linear.0.forward.input.0.npy", "Functional.relu.0.backward.output.0.npy"):
        assert (folder / file).exists()
    for tensor in tensors_of(dump["data"]):
        values = np.load(folder / tensor["data_name"]).astype(np.float64)
        assert list(values.shape) == tensor["shape"]
        assert tensor["Mean"] == pytest.approx(values.mean(), rel=1e-12, abs=1e-15)
        assert tensor["Norm"] == pytest.approx(np.sqrt((values * values).sum()), rel=1e-12)
    construct = json.loads((unit / "construct.json").read_text())
    assert construct["Functional.linear.1.forward"] == "Module.linear2.Linear.forward.0"


def test_checksums_at_l1(tmp_path):
    config = config_of("usage_example", {"summary_mode": "md5"}, task="tensor", level="L1")
    _, steps = run_script(SCRIPTS / "usage_example.py", config, tmp_path)
    assert len(steps) == 3
    for _, unit, dump in steps:
        assert [n for n in dump["data"] if n.startswith("Functional")] == [
            "Functional.linear.0.forward", "Functional.linear.1.forward",
            "Functional.relu.0.forward", "Functional.relu.0.backward",
            "Functional.linear.1.backward", "Functional.linear.0.backward"]
        assert json.loads((unit / "construct.json").read_text()) == {}
        for tensor in tensors_of(dump["data"]):
            values = np.load(unit / "dump_tensor_data" / tensor["data_name"])
            assert tensor["md5"] == f"{zlib.crc32(values.tobytes()):08x}"


def test_list_of_apis_edited_where_it_is_installed(tmp_path):
    where = subprocess.run(
        [sys.executable, "-c", "import msprobe; print(msprobe.__path__[0])"],
        capture_output=True, text=True, check=True, cwd=tmp_path).stdout.strip()
    shutil.copytree(where, tmp_path / "site" / "msprobe")
    (tmp_path / "site/msprobe/mindspore/support_wrap_ops.yaml").write_text(
        "functional:  # only this one\n  - relu\n")
    _, steps = run_script(SCRIPTS / "usage_example.py", config_of("usage_example", level="L1"),
                          tmp_path, PYTHONPATH=str(tmp_path / "site"))
    for _, _, dump in steps:
        assert list(dump["data"]) == ["Functional.relu.0.forward", "Functional.relu.0.backward"]
