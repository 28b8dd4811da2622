"""support_wrap_ops.yaml: operators of torch.ops.aten, and where it lies."""

import importlib.metadata
import pathlib
import subprocess
import sysconfig

import torch

from msprobe.listed_apis import read_api_lists


def test_operators_are_recorded_and_stay_what_they_are(collect):
    relu, call = torch.ops.aten.relu, torch._ops.OpOverloadPacket.__call__
    code = call.__code__
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    kept = []

    def program():
        assert torch.ops.aten.relu is relu
        y = relu(x * 1)  # held since before start()
        kept.append(torch.ops.aten.add.Tensor(y, y))  # one overload alone is not listed
        torch.ops.aten.sum(y).backward()

    dump = collect(program, None, level="L1")
    names = [name for name in dump.names if not name.startswith("Tensor.")]
    assert names == ["Aten.relu.0.forward", "Aten.sum.0.forward", "Aten.sum.0.backward",
                     "Aten.relu.0.backward"]
    entry = dump.data["Aten.relu.0.forward"]
    assert len(entry["input_args"]) == 1 and entry["output"][0]["Max"] == 2
    assert dump.data["Aten.relu.0.backward"]["output"][0]["Min"] == 0
    assert torch.equal(x.grad, torch.tensor([0.0, 1.0])) and kept[0][1] == 4
    assert call.__code__ is code


def test_only_listed_operators_are_recorded(collect, monkeypatch, tmp_path):
    from msprobe.pytorch import api_calls

    path = tmp_path / "support_wrap_ops.yaml"
    path.write_text("aten:\n  - relu\n  - no_such_operator\n")
    monkeypatch.setattr(api_calls, "LIST_PATH", str(path))
    monkeypatch.setattr(api_calls, "_aten", set())
    x = torch.ones(2)
    dump = collect(lambda: torch.ops.aten.sin(torch.ops.aten.relu(x)), None, level="L1")
    assert dump.names == ["Aten.relu.0.forward"]


def test_operators_that_do_not_exist_are_named(run_script, tmp_path):
    path = tmp_path / "ops.yaml"
    missing = [f"no_such_operator_{i}" for i in range(7)]
    path.write_text("aten:\n  - relu\n" + "".join(f"  - {name}\n" for name in missing))
    result = run_script(f"""
        from msprobe.pytorch import PrecisionDebugger, api_calls

        api_calls.LIST_PATH = {str(path)!r}
        debugger = PrecisionDebugger(dump_path="dump", level="L1")
        debugger.start()
        """)
    named = ", ".join(f"aten.{name}" for name in missing)
    assert f"7 listed APIs do not exist here: {named}\n" in result.stderr


def test_a_mark_at_the_beginning_of_the_list(tmp_path):
    path = tmp_path / "ops.yaml"
    path.write_text("\ufefftorch:\n  - relu\n")
    assert read_api_lists(str(path)) == {"torch": {"relu": False}}


def test_the_program_tells_where_the_lists_lie():
    program = pathlib.Path(sysconfig.get_path("scripts")) / "msprobe"
    said = subprocess.run([program, "inspect", "--paths"], capture_output=True, text=True, check=True)
    paths = [pathlib.Path(line) for line in said.stdout.splitlines()]
    # Where the program was installed: PYTHONPATH may name another package.
    package = pathlib.Path(importlib.metadata.distribution("msprobe").locate_file("msprobe")).resolve()
    assert [path.resolve() for path in paths] == [
        package / framework / "support_wrap_ops.yaml" for framework in ("pytorch", "mindspore")]
    mistaken = subprocess.run([program, "inspect", ".", "--paths"], capture_output=True, text=True)
    assert mistaken.returncode == 2 and "--paths looks at no dump" in mistaken.stderr
