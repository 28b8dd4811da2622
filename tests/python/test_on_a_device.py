"""Tensors whose values are not in this machine's memory: a forced path stands in for a device."""

import pytest

from conftest import described_tensors, read_dump

DEVICE = {"MSPROBE_FORCE_DEVICE_PATH": "1"}
PATHS = {"exchange": DEVICE, "attributes": {**DEVICE, "MSPROBE_EXCHANGE_API": "0"}}
NO_VALUES = {"Max": None, "Min": None, "Mean": None, "Norm": None}


@pytest.mark.parametrize("env", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["at once", "deferred"])
def test_an_empty_tensor_is_no_failure(asynchronous, env, run_script, tmp_path):
    run_script(
        f"""
        import json, torch
        from msprobe.pytorch import PrecisionDebugger
        with open("config.json", "w") as file:
            json.dump({{"async_dump": {asynchronous}}}, file)
        with PrecisionDebugger("config.json", "tensor", "dump", "L1").collect():
            torch.relu(torch.zeros(0, 3, dtype=torch.bfloat16))
            torch.abs(torch.zeros(0, dtype=torch.cfloat).conj())
        """, env=env)
    dump = read_dump(tmp_path / "dump")
    assert not any("reason" in tensor for tensor in described_tensors(dump.data))
    entry = dump.data["Torch.relu.0.forward"]["input_args"][0]
    assert NO_VALUES.items() <= entry.items()
    assert entry["dtype"] == "torch.bfloat16" and entry["shape"] == [0, 3]
    files = {file.name for file in (dump.directory / "dump_tensor_data").iterdir()}
    assert entry["data_name"] in files and len(files) == 4
    assert not dump.errors


@pytest.mark.parametrize("env", PATHS.values(), ids=PATHS)
def test_what_could_not_be_read_keeps_its_dtype(env, run_script, tmp_path):
    run_script(
        """
        import torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        def fail(tensor):
            raise RuntimeError("a device has gone away, and the text about it is long")

        tensors.summarize = fail
        with PrecisionDebugger(level="L1", dump_path="dump").collect():
            torch.relu(torch.ones(2, dtype=torch.bfloat16))
        """, env={**env, "MSPROBE_STRICT": "0"})
    entry = read_dump(tmp_path / "dump").data["Torch.relu.0.forward"]["input_args"][0]
    assert entry["dtype"] == "torch.bfloat16" and NO_VALUES.items() <= entry.items()
    assert entry["reason"].startswith("not readable on its device: RuntimeError: a device has")
