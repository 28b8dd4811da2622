"""Processes that multiprocessing starts: they leave without what Python does at its end."""

import pytest

from conftest import read_dump, units


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_step_left_open_in_a_process_of_multiprocessing_is_finished(method, run_script, tmp_path):
    result = run_script(
        """
        import multiprocessing, sys, torch
        from msprobe.pytorch import PrecisionDebugger

        def train():
            PrecisionDebugger(level="L1", dump_path="dump").start()
            torch.relu(torch.ones(2))

        if __name__ == "__main__":
            process = multiprocessing.get_context(sys.argv[1]).Process(target=train)
            process.start()
            process.join()
        """, method)
    dump = read_dump(tmp_path / "dump")
    assert dump.names == ["Torch.relu.0.forward"] and dump.ledger["entries"]["recorded"] == 1
    assert "ends successfully" in result.stdout


def test_a_debugger_made_before_a_fork_collects_after_it(run_script, tmp_path):
    result = run_script(
        """
        import torch, torch.multiprocessing
        from msprobe.pytorch import PrecisionDebugger

        debugger = PrecisionDebugger(level="L1", dump_path="dump")
        ours = torch.nn.Linear(2, 2)
        debugger.register_custom_api(ours, "extra_repr", "Ours")

        def train(rank):
            for _ in range(2):
                debugger.start(rank_id=rank)
                ours.extra_repr()
                torch.relu(torch.ones(2))
                debugger.stop()
                debugger.step()

        torch.multiprocessing.start_processes(train, nprocs=2, start_method="fork")
        """)
    for step in (0, 1):
        both = units(tmp_path / "dump", step)
        assert [unit.name for unit in both] == ["rank0", "rank1"]
        assert all("Torch.relu.0.forward" in (unit / "dump.json").read_text() for unit in both)
        assert all("Ours.extra_repr.0.forward" in (unit / "dump.json").read_text() for unit in both)
    assert result.stdout.count("ends successfully") == 2


def test_a_process_forked_from_one_that_collects_says_that_it_does_not(run_script, tmp_path):
    result = run_script(
        """
        import os, torch
        from msprobe.pytorch import PrecisionDebugger

        debugger = PrecisionDebugger(level="L1", dump_path="dump")
        debugger.start()
        child = os.fork()
        for _ in range(2):
            debugger.start()
            torch.relu(torch.ones(2))
            debugger.stop()
            debugger.step()
        if child:
            os.waitpid(child, 0)
        """)
    assert result.stderr.count("forked while another one collects: fork before the first start()") == 1
    for step in (0, 1):
        assert len(units(tmp_path / "dump", step)) == 1
        assert read_dump(tmp_path / "dump", step).names == ["Torch.relu.0.forward"]
