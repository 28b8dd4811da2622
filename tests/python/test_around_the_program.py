"""Compilers and modes, which see what is called: they and the tool do not disturb each other."""

import pytest
import torch

from conftest import described_tensors, read_dump


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


SUBCLASS = """
    import sys, torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger

    level, path = sys.argv[1:]

    class Counting(torch.Tensor):
        seen = []
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "?")
            cls.seen.append(f"{name} of {getattr(getattr(function, '__self__', None), '__name__', None)}")
            return super().__torch_function__(function, types, args, kwargs or {})

    class Open(torch.Tensor):
        pass

    class Closed(torch.Tensor):
        closed = False
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if cls.closed and getattr(function, "__name__", "") == "__get__":
                raise TypeError(f"{function.__self__.__name__} is of no concern")
            return super().__torch_function__(function, types, args, kwargs or {})

    def program(kind):
        torch.manual_seed(0)
        layer = nn.Linear(4, 4)
        layer.weight = nn.Parameter(layer.weight.detach().as_subclass(kind))
        model = nn.ModuleList([layer, nn.Sequential(nn.Linear(4, 4), nn.ReLU())])
        x = torch.ones(2, 3, 4).as_subclass(kind).requires_grad_()
        return model, lambda: run(model, x)

    def run(model, x):
        Closed.closed = True
        y = x * 2
        y.view(-1).mul_(2)
        y = model[1](model[0](y))
        if level == "debug" and collecting:
            debugger.save(y, "y")
        (y + y).sum().backward()

    debugger = PrecisionDebugger(dump_path="dump", level=level, task="tensor")
    collecting = False
"""


@pytest.mark.parametrize("level, path", [("L0", "0"), ("mix", "0"), ("mix", "1"), ("debug", "0")])
def test_classes_of_the_program_see_what_they_see_without(level, path, run_script):
    run_script(
        SUBCLASS + """
    model, train = program(Counting)
    Counting.seen.clear()
    train()
    plain = list(Counting.seen)
    model, train = program(Counting)
    Counting.seen.clear()
    collecting = True
    with debugger.collect(model):
        train()
    assert plain == Counting.seen, set(Counting.seen) - set(plain)
        """,
        level, path, env={"MSPROBE_FORCE_DEVICE_PATH": path},
    )


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_gradients_of_tensors_whose_class_answers_nothing(level, run_script, tmp_path):
    for kind in ("Open", "Closed"):
        run_script(
            SUBCLASS.replace('"dump"', f'"{kind}"') + f"""
    model, train = program({kind})
    with debugger.collect(model):
        train()
            """,
            level, "0",
        )
    open_, closed = (read_dump(tmp_path / kind).data for kind in ("Open", "Closed"))
    backward = [name for name in open_ if "backward" in name or "parameters_grad" in name]
    assert backward and list(open_) == list(closed)
    for name in backward:
        for a, b in zip(described_tensors(open_[name]), described_tensors(closed[name]), strict=True):
            assert [a[key] for key in ("shape", "Max", "Norm")] == [b[key] for key in ("shape", "Max", "Norm")], name


@pytest.mark.parametrize("level,calls", [("L0", 2), ("L1", 1)])
def test_calls_with_fake_tensors_are_counted(level, calls, collect):
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode() as mode:
        model = torch.nn.Sequential(torch.nn.LayerNorm(2), torch.nn.Identity())
        x = mode.from_tensor(torch.ones(1, 2))
    dump = collect(lambda: model(x), model, level=level, task="structure")
    entries = dump.ledger["entries"]  # layer_norm calls another function that is listed
    assert not dump.names and entries["skipped"] == {"fake_tensors": calls} and entries["seen"] == calls


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_exporting_is_told_and_not_recorded(level, collect):
    if not hasattr(torch, "export"):
        pytest.skip("this torch does not export")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    x = torch.ones(1, 2)
    programs = []
    dump = collect(lambda: programs.append(torch.export.export(model, (x,))), model, level=level)
    assert torch.equal(programs[0].module()(x), model(x))
    assert not dump.names
    assert any("torch.export has taken" in note for note in dump.ledger["notes"])


def test_steps_that_may_run_compiled_functions_say_so(run_script, tmp_path):
    if not hasattr(torch.compiler, "set_stance"):
        pytest.skip("this torch compiles in another way")
    run_script(
        """
        import torch
        from msprobe.pytorch import PrecisionDebugger

        def function(x):
            return torch.nn.functional.gelu(torch.relu(x)) + 1

        def gradient(of):
            x = torch.linspace(-1, 1, 5, requires_grad=True)
            y = of(x)
            y.sum().backward()
            return y, x.grad

        plain = gradient(function)
        compiled = torch.compile(function, backend="aot_eager")
        debugger = PrecisionDebugger(dump_path="dump", level="L1")
        for _ in range(2):
            with debugger.collect():
                values = gradient(compiled)
            assert all(map(torch.equal, values, plain))
        torch.compiler.set_stance("force_eager")
        with debugger.collect():
            gradient(compiled)
        """
    )
    notes = [read_dump(tmp_path / "dump", step).ledger["notes"] for step in range(3)]
    assert [len(of_step) for of_step in notes] == [1, 1, 0] and "torch.compile" in notes[0][0]
