"""Errors of the tool itself: counted and named, never raised into the program unless it asks."""

import json

import pytest

from conftest import read_dump

# Parts of the tool that fail at every call; the program goes on with the same numbers.
PROGRAM = """
    import torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger, tensors

    class Broken:
        def fail(self, *args):
            raise KeyError("broken for the test")

        __call__ = __getattr__ = fail

    broken = Broken()

    class Own(torch.Tensor):
        pass

    def program():
        x = torch.arange(4.0).as_subclass(Own).requires_grad_()
        loss = (model(x) * 2).sum(dim=0, dtype=torch.float32)
        loss.backward()
        return x.grad.tolist(), float(loss)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.GELU())
    expected = program()
    model.zero_grad()
    setattr(tensors, {part!r}, broken)
    debugger = PrecisionDebugger(level="mix", dump_path="dump")
    debugger.start(model)
    try:
        seen = program()
    finally:
        debugger.stop()
        debugger.step()
    assert seen == expected, (seen, expected)
    print("the program went on")
"""
PARTS = {"json": "describing a value", "_place": "describing a tensor"}


@pytest.mark.parametrize("part", PARTS)
def test_errors_are_counted_and_named_once(part, run_script, tmp_path):
    result = run_script(PROGRAM.format(part=part), env={"MSPROBE_STRICT": "0"})
    assert "the program went on" in result.stdout and "KeyError" not in result.stderr
    dump = read_dump(tmp_path / "dump")
    lines = [line for line in dump.errors.splitlines() if "error in msprobe" in line]
    assert len(lines) == 1
    assert PARTS[part] in lines[0] and "KeyError: 'broken for the test'" in lines[0]
    (note,) = [note for note in dump.ledger["notes"] if "errors in msprobe" in note]
    count, _, kind = note.partition(" errors in msprobe while ")
    assert int(count) >= 1 and kind == f"{PARTS[part]}: KeyError: 'broken for the test'"
    assert dump.ledger["entries"]["unaccounted"] == 0
    assert {"Module.0.Linear.forward.0", "Module.0.Linear.backward.0"} <= set(dump.names)


@pytest.mark.parametrize("part", PARTS)
def test_strict_mode_raises(part, run_script, tmp_path):
    result = run_script(PROGRAM.format(part=part), env={"MSPROBE_STRICT": "1"}, check=False)
    assert result.returncode == 1 and "the program went on" not in result.stdout
    assert "KeyError: 'broken for the test'" in result.stderr
    assert "in fail" in result.stderr and "in program" in result.stderr
    assert read_dump(tmp_path / "dump").ledger["notes"]  # the step is finished all the same


def test_errors_in_backward(run_script, tmp_path):
    code = PROGRAM.format(part="_place").replace(
        "loss.backward()", "tensors._place = broken; loss.backward()").replace(
        'setattr(tensors, \'_place\', broken)', "")
    for strict in "01":
        result = run_script(code.replace('"dump"', f'"dump{strict}"'), check=False,
                            env={"MSPROBE_STRICT": strict, "MSPROBE_EXCHANGE_API": "0"})
        assert (result.returncode == 0) == (strict == "0"), result.stderr
        dump = read_dump(tmp_path / f"dump{strict}")
        assert "KeyError: 'broken for the test'" in dump.errors
    assert "in program" in result.stderr and "backward" in result.stderr


def test_what_is_printed_on_a_closed_stream_does_not_land_in_a_file(run_script, tmp_path):
    run_script("""
        import os
        os.close(2)
        import torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger

        model = nn.Sequential(nn.Linear(2, 2))
        debugger = PrecisionDebugger(task="tensor", level="L0", dump_path="dump")
        debugger.start(model)
        model(torch.ones(1, 2))
        try:
            os.write(2, b"a library warns of something")
        except OSError:
            pass
        debugger.stop()
        debugger.step()
    """)
    dump = read_dump(tmp_path / "dump")
    assert "Module.0.Linear.forward.0" in dump.data
    for path in (tmp_path / "dump").rglob("*"):
        assert path.is_dir() or b"a library warns" not in path.read_bytes(), path


@pytest.mark.parametrize("order", ["KeyboardInterrupt", "SystemExit"])
@pytest.mark.parametrize("where", ["key", "device"])
def test_an_order_while_the_tool_is_at_work_is_the_programs(where, order, run_script, tmp_path):
    result = run_script(
        """
        import signal, sys
        import torch
        from msprobe.pytorch import PrecisionDebugger, tensors

        orders = [signal.SIGINT]

        def interrupt(*args):
            while orders:
                signal.raise_signal(orders.pop())
            return "a key"

        # Not as it was inherited: whoever starts the tests in the background ignores it.
        exits = sys.argv[2] == "SystemExit"
        signal.signal(signal.SIGINT, (lambda *_: sys.exit(7)) if exits else signal.default_int_handler)

        class Key:
            __str__ = interrupt

        if sys.argv[1] == "device":
            tensors.start = tensors.summarize = interrupt
        debugger = PrecisionDebugger(level="debug", dump_path="dump")
        debugger.start()
        try:
            debugger.save({Key() if sys.argv[1] == "key" else "a key": torch.ones(1)}, "name")
        except BaseException as error:
            print("got", type(error).__name__)
        debugger.save("a value", "after")
        """,
        where,
        order,
        env={"MSPROBE_FORCE_DEVICE_PATH": "1", "MSPROBE_STRICT": "0"},
    )
    assert f"got {order}\n" in result.stdout
    saved = json.loads((read_dump(tmp_path / "dump").directory / "debug.json").read_text())["data"]
    assert any("after" in name for name in saved)
