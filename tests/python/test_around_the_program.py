"""Compilers and modes, which see what is called: they and the tool do not disturb each other."""

import pytest
import torch

from conftest import read_dump


def test_what_a_compiler_looks_at_is_not_recorded(run_script, tmp_path):
    convert_frame = pytest.importorskip("torch._dynamo.convert_frame")
    if not hasattr(convert_frame, "CatchErrorsWrapper"):
        pytest.skip("this torch compiles in a closure, which nothing can be put around")
    run_script(
        """
        import torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger
        model = nn.Sequential(nn.Linear(4, 4), nn.GELU())
        compiled = torch.compile(model, backend="eager")
        debugger = PrecisionDebugger(dump_path="dump", level="L1")
        for _ in range(2):
            with debugger.collect():
                compiled(torch.ones(2, 4))
        """
    )
    first, second = (read_dump(tmp_path / "dump", step).names for step in (0, 1))
    assert first == second and "Functional.gelu.0.forward" in first


@pytest.mark.parametrize("how, named", [
    ("model = torch.compile(model, backend='eager')", "OptimizedModule is"),
    ("model.compile(backend='eager')", "Sequential is"),
    ("for part in model: part.compile(backend='eager')", "0.ReLU, 1.ReLU, 2.ReLU, … is"),
    ("torch.compile(model, backend='eager')", None),
    ("model.compile(backend='eager'); torch.compiler.set_stance('force_eager')", None),
])
def test_a_compiled_model_is_told(how, named, run_script):
    if not hasattr(torch.nn.Module, "compile") or not hasattr(torch.compiler, "set_stance"):
        pytest.skip("this torch compiles in another way")
    result = run_script(
        f"""
        import torch
        from torch import nn
        from msprobe.pytorch import PrecisionDebugger
        model = nn.Sequential(*(nn.ReLU() for _ in range(4)))
        {how}
        debugger = PrecisionDebugger(dump_path="dump", level="L0")
        for _ in range(2):
            with debugger.collect(model):
                model(torch.ones(2, 4))
        """
    )
    warnings = [line for line in result.stderr.splitlines() if "torch.compile" in line]
    assert len(warnings) == (named is not None)
    if named:
        assert f"warning: {named} compiled" in warnings[0] and "force_eager" in warnings[0]


@pytest.mark.parametrize("path", ["0", "1"])  # of reading: from memory, on the device
def test_modes_of_the_program_see_what_they_see_without(path, run_script):
    run_script(
        """
        import collections, torch
        from torch import nn
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
        from msprobe.pytorch import PrecisionDebugger

        class Functions(TorchFunctionMode):
            seen = collections.Counter()
            def __torch_function__(self, function, types, args=(), kwargs=None):
                self.seen[str(function)] += 1
                return function(*args, **(kwargs or {}))

        class Operators(TorchDispatchMode):
            seen = collections.Counter()
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                self.seen[str(function)] += 1
                return function(*args, **(kwargs or {}))

        def program():
            model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
            with Functions(), Operators():
                model(torch.ones(3, 4)).sum().backward()
                torch.ones(2, dtype=torch.complex64).conj() * 2
            seen = [dict(mode.seen) for mode in (Functions, Operators)]
            Functions.seen.clear(), Operators.seen.clear()
            return model, seen

        model, plain = program()
        debugger = PrecisionDebugger(dump_path="dump", level="mix", task="tensor")
        with debugger.collect(model):
            assert program()[1] == plain
        """,
        env={"MSPROBE_FORCE_DEVICE_PATH": path},
    )
