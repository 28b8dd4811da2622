"""Programs that change what is being looked at, or end the step meanwhile: from a property, as another thread may."""

from conftest import read_dump

# What is freed is overwritten: whoever looks at it afterwards does not go on as if nothing were.
OVERWRITTEN = {"PYTHONMALLOC": "debug"}

HEAD = """
    import types
    import torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger

    class Acts:
        '''As a dataclass: its field is looked at when the arguments of a call are recorded.'''
        __dataclass_fields__ = {"late": None}
        act = None

        @property
        def late(self):
            act, self.act = self.act, None
            if act is not None:
                act()
            return 1

    acts = Acts()
    library = types.SimpleNamespace(__name__="Library")
"""


def test_a_list_is_emptied_while_it_is_recorded(run_script, tmp_path):
    run_script(
        HEAD + """
    library.take = lambda values: torch.ones(1)
    debugger = PrecisionDebugger(level="L1", dump_path="dump")
    debugger.register_custom_api(library, "take", "Library")
    debugger.start()
    leaf = torch.ones(3, requires_grad=True)
    values = [leaf * 2, leaf * 3, acts]
    acts.act = values.clear
    library.take(values)
    debugger.stop()
    debugger.step()
    """,
        env=OVERWRITTEN,
    )
    assert "Library.take.0.forward" in read_dump(tmp_path / "dump").names


def test_the_tool_holds_no_argument_while_the_call_runs(run_script):
    result = run_script(
        HEAD + """
    import weakref

    def take(values):
        seen = weakref.ref(values.pop())
        return torch.ones(1) if seen() is None else torch.zeros(1)

    library.take = take
    debugger = PrecisionDebugger(level="L1", dump_path="dump")
    debugger.register_custom_api(library, "take", "Library")
    debugger.start()
    print("freed:", bool(library.take([torch.ones(3)])))
    debugger.stop()
    debugger.step()
    """
    )
    assert "freed: True" in result.stdout


def test_the_step_ends_while_arguments_are_looked_at(run_script, tmp_path):
    run_script(
        HEAD + """
    class Twice(nn.Module):
        def forward(self, x, acts):
            return x * 2

    def next_step():
        debugger.stop()
        debugger.step()
        if again:
            debugger.start(model)

    model = nn.Sequential(Twice())
    debugger = PrecisionDebugger(level="mix", dump_path="dump")
    for again in (False, True):
        debugger.start(model)
        acts.act = next_step
        assert model[0](torch.ones(3), acts).tolist() == [2, 2, 2]
        debugger.stop()
        debugger.step()
    """,
        env=OVERWRITTEN,
    )
    for step in (0, 2, 3):
        dump = read_dump(tmp_path / "dump", step)
        assert "Module.0.Twice.forward.0" not in dump.names
        assert dump.ledger["entries"]["unaccounted"] == 0


def test_the_numbers_add_up_where_the_step_ends_inside_a_call(run_script, tmp_path):
    run_script(
        HEAD + """
    def take(raises):
        debugger.stop()
        debugger.step()
        debugger.start()
        if raises:
            raise LookupError
        return torch.ones(1)

    library.take = take
    debugger = PrecisionDebugger(level="L1", dump_path="dump")
    debugger.register_custom_api(library, "take", "Library")
    debugger.start()
    library.take(False)
    try:
        library.take(True)
    except LookupError:
        print("passed")
    debugger.stop()
    debugger.step()
    """
    )
    for step in (0, 1, 2):
        entries = read_dump(tmp_path / "dump", step).ledger["entries"]
        assert entries["unaccounted"] == 0
        assert entries["skipped"] == ({"step_ended": 1} if step < 2 else {})


def test_classes_that_the_program_makes_may_go(run_script):
    run_script(HEAD + """
    import gc, weakref
    library.take = lambda value: torch.ones(1)
    debugger = PrecisionDebugger(level="L1", dump_path="dump")
    debugger.register_custom_api(library, "take", "Library")
    kept = []
    with debugger.collect():
        for _ in range(3):
            made = type("Made", (), {})
            kept.append(weakref.ref(made))
            library.take(made())
    del made
    gc.collect()
    assert [kind() for kind in kept] == [None] * 3
    """)
