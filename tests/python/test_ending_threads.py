"""Steps and threads that end while a call runs."""

import os

import pytest

from conftest import read_dump

# What is freed is overwritten: whoever looks at it afterwards does not go on as if nothing were.
PERTURBED = {"MALLOC_PERTURB_": "165"}

HEAD = """
    import threading, time
    import torch
    from torch import nn
    from msprobe.pytorch import PrecisionDebugger

    torch.set_num_threads(1)
    reached, go_on = threading.Event(), threading.Event()

    class Answer:
        '''As a dataclass: its field is looked at when the call's result is recorded.'''
        __dataclass_fields__ = {"late": None}

        def __init__(self, value):
            self.value = value

        @property
        def late(self):
            reached.set()
            assert go_on.wait(60)
            return self.value
"""


def test_the_step_ends_while_a_module_is_left(run_script, tmp_path):
    result = run_script(
        HEAD + """
    class Slow(nn.Linear):
        def forward(self, x):
            return Answer(super().forward(x))

    def program():
        with torch.no_grad():
            slow(torch.ones(2, 4))

    debugger = PrecisionDebugger(level="mix", dump_path="dump")
    slow = Slow(4, 4)
    debugger.start(nn.ModuleList([slow]))
    thread = threading.Thread(target=program)
    thread.start()
    assert reached.wait(60)
    debugger.stop()
    debugger.step()
    other = nn.ModuleList([nn.Bilinear(3, 3, 3)])  # takes the place of what has been freed
    debugger.start(other)
    go_on.set()
    thread.join()
    other[0](torch.ones(2, 3), torch.ones(2, 3))
    debugger.stop()
    debugger.step()
    print("went on")
    """,
        env=PERTURBED,
    )
    assert "went on" in result.stdout
    names = read_dump(tmp_path / "dump", 1).names
    assert "Module.0.Bilinear.forward.0" in names
    assert not any("Slow" in name for name in names)


def test_the_step_ends_while_a_parameters_gradient_is_read(run_script, tmp_path):
    result = run_script(
        HEAD + """
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.ones(6_000_000))  # read without the GIL
            self.factor.register_post_accumulate_grad_hook(lambda _: reached.set())

        def forward(self):
            return (self.factor * 2).sum()

    debugger = PrecisionDebugger(level="L0", dump_path="dump")
    for turn in range(6):
        reached.clear()
        model = Scale()
        debugger.start(model)
        thread = threading.Thread(target=lambda: model().backward())
        thread.start()
        assert reached.wait(60)
        debugger.stop()
        debugger.step()
        thread.join()
    print("went on")
    """,
        env=PERTURBED,
    )
    assert "went on" in result.stdout


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="AddressSanitizer takes the end of a thread inside of a call for an error")
@pytest.mark.parametrize("level", ["L0", "mix"])
def test_the_program_ends_while_a_daemon_runs_a_module(level, run_script):
    # Its thread ends without the GIL, inside of the call.
    result = run_script(
        HEAD + f"""
    class Endless(nn.Module):
        def forward(self, x):
            y = torch.relu(x * 2)
            reached.set()
            while True:
                time.sleep(0.0002)  # not in torch: it does not take being ended there

    debugger = PrecisionDebugger(level="{level}", dump_path="dump")
    model = nn.Sequential(nn.Linear(4, 4), Endless())
    debugger.start(model)
    for _ in range(8):
        threading.Thread(target=lambda: model(torch.ones(2, 4)), daemon=True).start()
    assert reached.wait(60)
    time.sleep(0.05)
    print("the end")
    """,
        env=PERTURBED,
    )
    assert result.returncode == 0 and "the end" in result.stdout


def test_what_a_thread_left_is_dropped_by_the_next(run_script, tmp_path):
    run_script(
        HEAD + """
    def program():
        model(torch.ones(2, 4)).sum().backward()

    debugger = PrecisionDebugger(level="mix", dump_path="dump")
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    debugger.start(model)
    for _ in range(50):
        thread = threading.Thread(target=program)
        thread.start()
        thread.join()
    debugger.stop()
    debugger.step()
    """,
        env=PERTURBED,
    )
    names = read_dump(tmp_path / "dump").names
    assert {"Module.0.Linear.forward.49", "Module.0.Linear.backward.49"} <= set(names)
