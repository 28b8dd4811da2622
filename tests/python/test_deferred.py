"""async_dump: what a device computes and copies is fetched when the step ends, or memory asks for it."""

import json

import pytest
import torch

from conftest import read_dump, units, write_config

PROGRAM = """
    import os, sys, torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger, tensors

    waits = []

    def wait(original=tensors.wait):
        waits.append(1)
        original()

    tensors.wait = wait
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 4))
    debugger = PrecisionDebugger(config_path=sys.argv[1])
    debugger.start(model)
    for _ in range(2):
        x = torch.randn(3, 8)
        y = model(x).t()
        z = y.detach() + 1
        torch.sigmoid(z)
        z.zero_()  # what was recorded is that of the call
        w = torch.complex(y, y)
        # Old versions of torch read these in this machine's memory as from a device.
        (y > 0).sum() + (w.conj() if "MSPROBE_FORCE_DEVICE_PATH" in os.environ else w).abs().sum()
        y.exp().sum().backward()
    torch.zeros(0).relu()
    before_stop = len(waits)
    loss = model(torch.ones(2, 8)).sum()
    debugger.stop()
    after_stop = len(waits)
    loss.backward()
    debugger.step()
    print("waits", before_stop, after_stop, len(waits))
    """


def _run(run_script, tmp_path, name, env, top, **config):
    directory = tmp_path / name
    directory.mkdir()
    result = run_script(PROGRAM, write_config(directory, top=top, **config), env=env)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("waits")]
    return read_dump(directory / "dump"), line


DEVICE = {"MSPROBE_FORCE_DEVICE_PATH": "1"}


@pytest.mark.parametrize("config", [{"task": "statistics"}, {"task": "tensor"},
                                    {"task": "statistics", "summary_mode": "md5"},
                                    {"task": "statistics", "summary_mode": "xor"}],
                         ids=lambda config: config.get("summary_mode", config["task"]))
def test_deferred_values_are_those_of_the_call(config, run_script, tmp_path):
    at_once, line = _run(run_script, tmp_path, "at_once", DEVICE, {}, **config)
    assert line == "waits 0 0 0"
    deferred, line = _run(run_script, tmp_path, "deferred", DEVICE, {"async_dump": True}, **config)
    assert line == "waits 0 1 2"  # forward and backward at stop(), what comes after it at step()
    assert deferred.names == at_once.names and "Module.2.Linear.backward.2" in deferred.names
    assert json.dumps(deferred.data) == json.dumps(at_once.data)
    assert deferred.construct == at_once.construct
    assert deferred.ledger["entries"] == at_once.ledger["entries"]
    files = deferred.directory / "dump_tensor_data"
    assert files.exists() == (config["task"] == "tensor")
    for file in files.iterdir() if files.exists() else ():
        expected = torch.load(at_once.directory / "dump_tensor_data" / file.name, weights_only=True)
        assert torch.equal(torch.load(file, weights_only=True), expected), file.name


def test_values_in_this_machines_memory_are_read_at_once(run_script, tmp_path):
    at_once, _ = _run(run_script, tmp_path, "at_once", {}, {}, task="tensor")
    deferred, line = _run(run_script, tmp_path, "deferred", {}, {"async_dump": True}, task="tensor")
    assert line == "waits 0 0 0"
    assert json.dumps(deferred.data) == json.dumps(at_once.data)


def test_what_is_deferred_has_bounded_memory(run_script, tmp_path):
    result = run_script("""
        import sys, torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        waits = []

        def wait(original=tensors.wait):
            waits.append(1)
            original()

        tensors.wait = wait
        debugger = PrecisionDebugger(config_path=sys.argv[1])
        debugger.start()
        x = torch.zeros(12 << 20)
        for _ in range(4):
            x.relu_()  # 48 MiB before, 48 MiB after
        print("waits", len(waits))
        debugger.stop()
        debugger.step()
        """, write_config(tmp_path, task="tensor", level="L1", top={"async_dump": True}), env=DEVICE,
        timeout=600)  # sanitizers take their time with 400 MB
    assert "waits 1" in result.stdout
    assert len(read_dump(tmp_path / "dump").names) == 4


def test_values_inside_functional_transforms(run_script, tmp_path):
    run_script(
        """
        import torch
        from msprobe.pytorch import PrecisionDebugger
        weight = torch.tensor([1.0, 2.0])
        debugger = PrecisionDebugger(dump_path="dump", level="L1", task="tensor")
        with debugger.collect():
            torch.func.grad(lambda v: torch.mul(v, weight).sum())(torch.ones(2))
        """,
        env={"MSPROBE_FORCE_DEVICE_PATH": "1"},
    )
    dump = read_dump(tmp_path / "dump")
    argument, weight = dump.data["Torch.mul.0.forward"]["input_args"]
    assert argument["reason"] and weight["Max"] == 2 and not dump.errors


@pytest.mark.parametrize("top", [{}, {"async_dump": True}], ids=["at once", "deferred"])
@pytest.mark.parametrize("env", [{}, DEVICE], ids=["here", "device"])
@pytest.mark.parametrize("named", ["Module.0", "Module.1"])
def test_a_shared_parameter_is_saved_for_the_module_that_is_named(named, env, top, run_script, tmp_path):
    config = write_config(tmp_path, top=top, level="L0", tensor_list=[f"{named}.Linear.parameters_grad"])
    run_script("""
        import sys, torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger

        model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
        model[1].weight = model[0].weight
        with PrecisionDebugger(config_path=sys.argv[1]).collect(model):
            model(torch.ones(1, 2)).sum().backward()
        """, config, env=env)
    dump = read_dump(tmp_path / "dump")
    gradients = {n: dump.data[n]["weight"][0] for n in dump.names if "parameters_grad" in n}
    assert len(gradients) == 2 and all(g["Norm"] > 0 for g in gradients.values())
    files = [file.name for file in (dump.directory / "dump_tensor_data").iterdir()]
    assert files == [f"{named}.Linear.parameters_grad.0.weight.pt"]
    assert [n for n in gradients if "data_name" in gradients[n]] == [f"{named}.Linear.parameters_grad.0"]


def test_saved_values_and_gradients_that_a_device_still_copies(run_script, tmp_path):
    """As after x.to("cpu", non_blocking=True): pinned memory that fills when the device is waited for."""
    run_script("""
        import sys, torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        arriving = []

        def wait_for(device):
            while arriving:
                arriving.pop()()

        tensors._wait_for = wait_for
        torch.Tensor.is_pinned = lambda tensor: True
        torch.cuda.is_initialized = lambda: True
        torch.cuda.current_device = lambda: 0
        tensors._captures = lambda device: False

        def copying(value):
            host = torch.zeros(2)
            arriving.append(lambda: host.fill_(value))
            return host

        class Offload(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, gradient):
                return copying(3)

        debugger = PrecisionDebugger(level="debug", dump_path="saved")
        with debugger.collect():
            debugger.save(copying(1), "value", save_backward=False)
            x = torch.ones(2, requires_grad=True)
            y = x * 1
            debugger.save(y, "y")
            Offload.apply(y).sum().backward()
        PrecisionDebugger._forget()
        with PrecisionDebugger(level="L1", dump_path="dump").collect():
            torch.abs(torch.ones(2, dtype=torch.cfloat).conj())  # read as on a device
            Offload.apply(torch.sin(x)).sum().backward()
        """, env={"MSPROBE_EXCHANGE_API": "0"})
    (unit,) = units(tmp_path / "saved")
    saved = json.loads((unit / "debug.json").read_text())["data"]
    assert saved["value.0.debug"]["Max"] == 1 and saved["y_grad.0.debug"]["Max"] == 3
    assert read_dump(tmp_path / "dump").data["Torch.sin.0.backward"]["input"][0]["Max"] == 3
