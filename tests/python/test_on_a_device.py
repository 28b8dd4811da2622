"""Tensors whose values are not in this machine's memory: a forced path stands in for a device."""

import json
import math

import pytest
import torch

from conftest import described_tensors, read_dump, units
from msprobe.pytorch import tensors

DEVICE = {"MSPROBE_FORCE_DEVICE_PATH": "1"}
PATHS = {"exchange": DEVICE, "attributes": {**DEVICE, "MSPROBE_EXCHANGE_API": "0"}}
NO_VALUES = {"Max": None, "Min": None, "Mean": None, "Norm": None}


def _collected(run_script, tmp_path, env, asynchronous, calls):
    """The dump of `calls`, with their tensors."""
    (tmp_path / "config.json").write_text(json.dumps({"async_dump": asynchronous}))
    run_script("""
        import torch
        from msprobe.pytorch import PrecisionDebugger
        with PrecisionDebugger("config.json", "tensor", "dump", "L1").collect():
        """.rstrip() + calls, env=env)
    return read_dump(tmp_path / "dump")


@pytest.mark.parametrize("env", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["at once", "deferred"])
def test_an_empty_tensor_is_no_failure(asynchronous, env, run_script, tmp_path):
    dump = _collected(run_script, tmp_path, env, asynchronous, """
            torch.relu(torch.zeros(0, 3, dtype=torch.bfloat16))
            torch.abs(torch.zeros(0, dtype=torch.cfloat).conj())
        """)
    assert not any("reason" in tensor for tensor in described_tensors(dump.data))
    entry = dump.data["Torch.relu.0.forward"]["input_args"][0]
    assert NO_VALUES.items() <= entry.items()
    assert entry["dtype"] == "torch.bfloat16" and entry["shape"] == [0, 3]
    files = {file.name for file in (dump.directory / "dump_tensor_data").iterdir()}
    assert entry["data_name"] in files and len(files) == 4
    assert not dump.errors


@pytest.mark.parametrize("env", [*PATHS.values(), {"MSPROBE_EXCHANGE_API": "0"}], ids=[*PATHS, "in memory"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["at once", "deferred"])
def test_negated_views_have_their_values_and_gradients(asynchronous, env, run_script, tmp_path):
    dump = _collected(run_script, tmp_path, env, asynchronous, """
            torch.abs(torch.tensor([1 + 2j, 3 - 4j]).conj())
            values = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True) * 1
            values.conj().imag.mul_(2)
            (values.imag * torch.tensor([1.0, 5.0])).sum().backward()
        """)
    conjugate = dump.tensor(dump.data["Torch.abs.0.forward"]["input_args"][0])
    assert conjugate.tolist() == [1 - 2j, 3 + 4j]
    assert dump.tensor(dump.data["Tensor.mul_.0.forward"]["input_args"][0]).tolist() == [-2, 4]
    assert dump.tensor(dump.data["Tensor.mul_.0.backward"]["output"][0]).tolist() == [-2, -10]


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


def test_while_a_graph_is_captured_nothing_runs_on_the_device(run_script, tmp_path):
    run_script(
        """
        import json, torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        captures, queued = [], []
        tensors._captures = lambda device: bool(captures)

        def while_captured(original):
            def watched(*args):
                queued.extend(captures)
                return original(*args)
            return watched

        tensors._sums, tensors._buffer = map(while_captured, (tensors._sums, tensors._buffer))
        tensors._wait_for, tensors._sent = map(while_captured, (tensors._wait_for, tensors._sent))
        for name, top, section in (("plain", {}, {}), ("md5", {}, {"summary_mode": "md5"}),
                                   ("tensors", {"task": "tensor"}, {}), ("deferred", {"async_dump": True}, {})):
            with open("config.json", "w") as file:
                json.dump({"level": "L1", **top, top.get("task", "statistics"): section}, file)
            debugger = PrecisionDebugger("config.json", dump_path=name)
            debugger.start()
            x = torch.relu(torch.ones(2))
            captures.append("a graph")
            torch.sigmoid(x)
            debugger.stop()
            captures.clear()
            debugger.step()
            PrecisionDebugger._forget()
        assert not queued
        """, env=DEVICE)
    for name in ("plain", "md5", "tensors", "deferred"):
        dump = read_dump(tmp_path / name)
        assert dump.names == ["Torch.relu.0.forward", "Torch.sigmoid.0.forward"]
        before, captured = (dump.data[entry]["output"][0] for entry in dump.names)
        assert before["Max"] == 1 and "reason" not in before
        assert NO_VALUES.items() <= captured.items() and "a graph is being captured" in captured["reason"]
        assert "md5" not in captured and "data_name" not in captured and not dump.errors


def test_what_comes_from_a_device_is_awaited(run_script, tmp_path):
    run_script(
        """
        import types, torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        arriving = []

        def wait_for(device):
            while arriving:
                arriving.pop()()

        tensors._wait_for = wait_for
        torch.Tensor.is_pinned = lambda tensor: True
        host = torch.zeros(2)

        def copy(x):  # as x.to("cpu", non_blocking=True)
            arriving.append(lambda: host.copy_(x.real))
            return host

        library = types.SimpleNamespace(copy=copy)
        debugger = PrecisionDebugger(level="L0", dump_path="dump")
        debugger.register_custom_api(library, "copy", "Mine")
        with debugger.collect(torch.nn.Module()):
            library.copy(torch.ones(2, dtype=torch.cfloat).conj())  # read as on a device
            tensors._captures = lambda device: True
            library.copy(torch.ones(2))
        """, env={"MSPROBE_EXCHANGE_API": "0"})
    data = read_dump(tmp_path / "dump").data
    assert data["Mine.copy.0.forward"]["output"][0]["Max"] == 1
    assert "a graph is being captured" in data["Mine.copy.1.forward"]["output"][0]["reason"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.cfloat, torch.int64, torch.uint8, torch.bool])
def test_a_large_tensor_is_reduced_in_pieces(dtype, monkeypatch):
    sizes = []

    def sums(tensor, original=tensors._sums):
        sizes.append(tensor.numel())
        return original(tensor)

    monkeypatch.setattr(tensors, "_sums", sums)
    base = (torch.randn(7, 1, 33, generator=torch.Generator().manual_seed(1)) * 5).to(dtype)
    for tensor in (base, base.transpose(0, 2)[1:, :, ::2], base.expand(7, 10, 33), base[0, 0, 0]):
        whole = tensors.summarize(tensor)
        monkeypatch.setattr(tensors, "_PIECE", 50)
        sizes.clear()
        assert tensors.summarize(tensor) == pytest.approx(whole, rel=1e-12)
        assert max(sizes) <= 50 and sum(sizes) == tensor.numel()
        monkeypatch.undo()
        monkeypatch.setattr(tensors, "_sums", sums)


def test_what_is_not_finite_is_found_in_every_piece(monkeypatch):
    monkeypatch.setattr(tensors, "_PIECE", 4)
    tensor = torch.ones(10)
    tensor[3] = float("inf")
    assert tensors.summarize(tensor) == (math.inf, 1, math.inf, math.inf, 0, 1)
    tensor[9] = float("nan")
    largest, smallest, mean, norm, *odd = tensors.summarize(tensor)
    assert all(map(math.isnan, (largest, smallest, mean, norm))) and odd == [1, 1]


@pytest.mark.skipif(not hasattr(torch, "uint64"), reason="this torch has no uint64")
def test_the_largest_integers_are_exact(run_script, tmp_path):
    run_script(
        """
        import torch
        from msprobe.pytorch import PrecisionDebugger

        tensors = [torch.tensor([2**64 - 1, 2**63 + 1], dtype=torch.uint64), torch.tensor([-2**63, 2**63 - 1]),
                   torch.tensor([0, 2**63], dtype=torch.uint64)]
        with PrecisionDebugger(level="debug", dump_path="dump").collect():
            PrecisionDebugger.save(tensors, "name", save_backward=False)
        """, env=DEVICE)
    (unit,) = units(tmp_path / "dump")
    saved = json.loads((unit / "debug.json").read_text())["data"]["name.0.debug"]
    assert [(tensor["Max"], tensor["Min"]) for tensor in saved] == [
        (2**64 - 1, 2**63 + 1), (2**63 - 1, -2**63), (2**63, 0)]
