"""Two processes with gloo: ranks, collectives, handles (fault 22)."""

import pytest
import torch

from conftest import Dump, units, watches_memory
from free_port import free_port

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="no torch.distributed")

LAUNCH = """
    import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
    from torch import nn

    def worker(rank, body):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["TEST_PORT"])
        from msprobe.pytorch import PrecisionDebugger
        torch.set_num_threads(1)
        debugger = PrecisionDebugger(level="mix", task="tensor", dump_path="dump")
        globals()["program"](rank, debugger)
        dist.barrier()  # nobody needs the store of rank 0 any more
        PrecisionDebugger._forget()
        sys.stdout.flush()
        # Old versions of torch wait for gloo's threads under the lock that these need; without that
        # they outlive the interpreter.
        os._exit(0)

    def init(rank):
        dist.init_process_group("gloo", rank=rank, world_size=2)

    if __name__ == "__main__":
        mp.spawn(worker, args=(None,), nprocs=2)
"""


def _run(run_script, body):
    import textwrap

    code = textwrap.dedent(LAUNCH).replace("def worker", textwrap.dedent(body) + "\ndef worker", 1)
    return run_script(code, env={"TEST_PORT": str(free_port())}, timeout=240)


def _dump(tmp_path, rank):
    return Dump(tmp_path / "dump" / "step0" / f"rank{rank}")


def test_collectives_before_and_after(run_script, tmp_path):
    _run(run_script, """
        def program(rank, debugger):
            init(rank)
            model = nn.ModuleList([nn.Linear(2, 2)])
            debugger.start(model)
            x = torch.full((3,), float(rank + 1))
            dist.all_reduce(x)
            parts = [torch.zeros(2), torch.zeros(2)]
            dist.all_gather(parts, torch.full((2,), float(rank)))
            y = torch.full((4,), float(rank + 10))
            handle = dist.all_reduce(y, async_op=True)
            handle.wait()
            if rank == 0:
                dist.send(torch.ones(2), 1)
                dist.isend(torch.full((2,), 5.0), 1).wait()
            else:
                z = torch.zeros(2)
                dist.recv(z, 0)
                dist.irecv(z, 0).wait()
            b = torch.zeros(1)
            dist.broadcast(b, src=0, async_op=True)  # nobody waits here
            dist.barrier()
            debugger.stop()
            debugger.step()
        """)
    for rank in (0, 1):
        dump = _dump(tmp_path, rank)
        entry = dump.data["Distributed.all_reduce.0.forward"]
        assert entry["input_args"][0]["Max"] == rank + 1
        assert entry["output"][0]["Max"] == 3
        assert torch.equal(dump.tensor(entry["output"][0]), torch.full((3,), 3.0))
        gathered = dump.data["Distributed.all_gather.0.forward"]
        assert [t["Max"] for t in gathered["output"][:2]] == [0, 1]
        late = dump.data["Distributed.all_reduce.1.forward"]
        assert late["input_args"][0]["Max"] == rank + 10 and late["output"][0]["Max"] == 21
        assert "Distributed.broadcast.0.forward" in dump.data
        assert "Distributed.all_reduce.2.forward" not in dump.data
    assert "Distributed.send.0.forward" in _dump(tmp_path, 0).data
    received = _dump(tmp_path, 1).data["Distributed.irecv.0.forward"]
    assert received["input_args"][0]["Max"] == 1 and received["output"][0]["Max"] == 5


@pytest.mark.parametrize("given_back", ["works", "works + works"])  # one handle may stand for several
def test_a_batch_of_sends_and_receives(given_back, run_script, tmp_path):
    _run(run_script, """
        def program(rank, debugger):
            init(rank)
            batch = dist.batch_isend_irecv
            dist.batch_isend_irecv = lambda operations: (works := batch(operations)) and GIVEN_BACK
            debugger.start(nn.ModuleList([nn.Linear(2, 2)]))
            mine, theirs = torch.full((2,), rank + 1.0), torch.zeros(2)
            operations = [dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, theirs, 1 - rank)]
            works = dist.batch_isend_irecv(operations)
            for work in {id(work): work for work in works}.values():  # gloo's take one wait() each
                work.wait()
            theirs.zero_()  # what was received is that of the moment when it was waited for
            debugger.stop()
            debugger.step()
        """.replace("GIVEN_BACK", given_back))
    for rank in (0, 1):
        dump = _dump(tmp_path, rank)
        entry = dump.data["Distributed.batch_isend_irecv.0.forward"]
        send, receive = entry["input_args"][0]
        assert send["type"] == receive["type"] == "torch.distributed.P2POp"
        assert [send["value"]["op"], receive["value"]["op"]] == ["isend", "irecv"]
        assert send["value"]["peer"] == 1 - rank and send["value"]["group_ranks"] == [0, 1]
        assert [send["tensor"]["Max"], receive["tensor"]["Max"]] == [rank + 1, 0]
        assert [t["Max"] for t in entry["output"]] == [rank + 1, 2 - rank]
        assert torch.equal(dump.tensor(entry["output"][1]), torch.full((2,), 2.0 - rank))
        assert not any(".isend." in name or ".irecv." in name for name in dump.names)


def test_a_process_becomes_a_rank_while_it_records(run_script, tmp_path):
    _run(run_script, """
        def program(rank, debugger):
            model = nn.ModuleList([nn.Linear(2, 2)])
            debugger.start(model)
            torch.sin(torch.ones(1))
            init(rank)
            torch.cos(torch.ones(1))
            debugger.stop()
            debugger.step()
            torch.distributed.barrier()  # rank 0 holds the store that rank 1 begins with
        """)
    assert [u.name for u in units(tmp_path / "dump")] == ["rank0", "rank1"]
    assert {"Torch.sin.0.forward", "Torch.cos.0.forward"} <= set(_dump(tmp_path, 1).names)


def test_data_parallel_training_keeps_its_bits(run_script, tmp_path):
    _run(run_script, """
        def train(rank, debugger):
            from torch.nn.parallel import DistributedDataParallel
            torch.manual_seed(0)
            model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)))
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for step in range(3):
                if debugger:
                    debugger.start(model)
                torch.manual_seed(step * 2 + rank)
                model(torch.randn(4, 8)).pow(2).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
                if debugger:
                    debugger.stop()
                    debugger.step()
            return [p.detach().clone() for p in model.parameters()]

        def program(rank, debugger):
            init(rank)
            plain = train(rank, None)
            seen = train(rank, debugger)
            assert all(torch.equal(a, b) for a, b in zip(plain, seen))
        """)
    names = _dump(tmp_path, 0).names
    assert "Module.module.0.Linear.backward.0" in names
    assert "Module.module.0.Linear.parameters_grad.0" in names


def test_gradients_in_buckets_are_those_of_this_rank(run_script, tmp_path):
    _run(run_script, """
        def program(rank, debugger):
            init(rank)
            torch.manual_seed(0)
            plain, seen = nn.Linear(8, 8), nn.Linear(8, 8)
            seen.load_state_dict(plain.state_dict())
            model = nn.parallel.DistributedDataParallel(seen, gradient_as_bucket_view=True)
            x = torch.full((2, 8), rank + 1.0)
            plain(x).sum().backward()
            torch.save(plain.weight.grad, f"grad{rank}.pt")
            debugger.start(model)
            model(x).sum().backward()
            debugger.stop()
            debugger.step()
            assert torch.equal(seen.weight.grad, torch.full((8, 8), 3.0))  # of both ranks
        """)
    for rank in (0, 1):
        weight = _dump(tmp_path, rank).data["Module.module.Linear.parameters_grad.0"]["weight"][0]
        local = torch.load(tmp_path / f"grad{rank}.pt")
        assert weight["Norm"] == pytest.approx(local.norm().item())


@pytest.mark.skipif(not hasattr(torch.distributed, "all_gather_single"), reason="torch has them from 2.14 on")
def test_collectives_of_a_single_tensor(run_script, tmp_path):
    result = _run(run_script, """
        def program(rank, debugger):
            init(rank)
            debugger.start(nn.ModuleList([nn.Linear(2, 2)]))
            mine, all_, part = torch.full((2,), rank + 1.0), torch.zeros(4), torch.zeros(2)
            dist.all_gather_single(all_, mine)
            dist.all_gather_single(all_, mine, async_op=True).wait()
            dist.reduce_scatter_single(part, all_)
            dist.all_gather_into_tensor(all_, mine)  # calls all_gather_single
            debugger.stop()
            debugger.step()
        """)
    assert "listed APIs do not exist" not in result.stderr
    for rank in (0, 1):
        dump = _dump(tmp_path, rank)
        names = [name for name in dump.names if name.startswith("Distributed.")]
        assert names == [f"Distributed.{call}.forward" for call in (
            "all_gather_single.0", "all_gather_single.1", "reduce_scatter_single.0",
            "all_gather_into_tensor.0")]
        for name in names[:2]:
            assert torch.equal(dump.tensor(dump.data[name]["output"][0]), torch.tensor([1.0, 1, 2, 2]))
        assert dump.data[names[2]]["output"][0]["Max"] == 2 * (rank + 1)


def _has_fully_shard():
    try:
        from torch.distributed.fsdp import fully_shard  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.skipif(not _has_fully_shard(), reason="torch has fully_shard() from 2.6 on")
def test_parameters_that_are_spread_over_ranks(run_script, tmp_path):
    """FSDP2: modules run with whole parameters; gradients are those before they are reduced."""
    _run(run_script, """
        def train(rank, debugger):
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.fsdp import fully_shard
            torch.manual_seed(0)
            mesh = init_device_mesh("cpu", (2,))
            model = nn.Sequential(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 2))
            fully_shard(model[0], mesh=mesh)
            fully_shard(model, mesh=mesh)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for step in range(2):
                if debugger:
                    debugger.start(model)
                torch.manual_seed(step * 2 + rank)
                model(torch.randn(4, 8)).pow(2).sum().backward()
                if debugger and step == 0:
                    torch.save([p.grad.to_local() for p in model.parameters()], f"reduced{rank}.pt")
                optimizer.step()
                optimizer.zero_grad()
                if debugger:
                    debugger.stop()
                    debugger.step()
            return [p.to_local().detach().clone() for p in model.parameters()]

        def program(rank, debugger):
            init(rank)
            plain = train(rank, None)
            seen = train(rank, debugger)
            assert all(torch.equal(a, b) for a, b in zip(plain, seen))
        """)
    dumps = [_dump(tmp_path, rank) for rank in (0, 1)]
    for place, module in enumerate(("0.0.Linear", "1.Linear")):
        name = f"Module.{module}.parameters_grad.0"
        for part, parameter in enumerate(("weight", "bias")):
            whole = [dump.tensor(dump.data[name][parameter][0]) for dump in dumps]
            reduced = torch.cat([torch.load(tmp_path / f"reduced{rank}.pt")[2 * place + part] for rank in (0, 1)])
            assert torch.allclose(sum(whole) / 2, reduced)
    if hasattr(torch.distributed, "all_gather_single"):
        for api in ("all_gather_single", "reduce_scatter_single"):
            assert f"Distributed.{api}.0.forward" in dumps[0].names


@pytest.mark.skipif(not _has_fully_shard(), reason="torch has fully_shard() from 2.6 on")
@pytest.mark.parametrize("async_dump", [False, True])
def test_distributed_tensors_have_the_values_of_this_rank(async_dump, run_script, tmp_path):
    """Also where they are computed with: the optimizer's. Nothing is brought together for that."""
    _run(run_script, """
        def train(rank, debugger):
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.tensor.debug import CommDebugMode
            from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4))
            parallelize_module(model, init_device_mesh("cpu", (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            if debugger:
                debugger._session.config.async_dump = ASYNC
                debugger.start(model)
            with CommDebugMode() as communication:
                loss = model(torch.randn(4, 8)).pow(2).sum()
                loss.backward()
                if debugger:
                    torch.save([p.to_local().detach().clone() for p in model.parameters()], f"before{rank}.pt")
                    torch.save([p.grad.to_local().clone() for p in model.parameters()], f"grads{rank}.pt")
                optimizer.step()
            if debugger:
                debugger.stop()
                debugger.step()
            return [loss.detach()] + [p.to_local().detach().clone() for p in model.parameters()], (
                communication.get_total_counts())

        def program(rank, debugger):
            init(rank)
            (plain, plain_count), (seen, seen_count) = train(rank, None), train(rank, debugger)
            assert all(torch.equal(a, b) for a, b in zip(plain, seen))
            assert plain_count == seen_count, (plain_count, seen_count)
        """.replace("ASYNC", str(async_dump)))
    for rank in (0, 1):
        dump = _dump(tmp_path, rank)
        before, grads = (torch.load(tmp_path / f"{what}{rank}.pt") for what in ("before", "grads"))
        weight = dump.data["Module.0.Linear.forward.0"]["parameters"]["weight"]
        assert weight["type"] == "DTensor" and weight["shape"] == [3, 8] and "reason" not in weight
        assert weight["Max"] == before[0].max() and torch.equal(dump.tensor(weight), before[0])
        for place, name in ((0, "0"), (2, "2")):
            entry = dump.data[f"Module.{name}.Linear.parameters_grad.0"]
            assert torch.equal(dump.tensor(entry["weight"][0]), grads[place])
        assert dump.ledger["problems"] == 0


def test_what_a_collective_still_computes(collect):
    """Nobody waits for it: that would be another wait in the program."""
    from torch.distributed._functional_collectives import AsyncCollectiveTensor

    dump = collect(lambda: torch.relu(AsyncCollectiveTensor(torch.ones(2))), level="L1")
    (value,) = dump.data["Torch.relu.0.forward"]["input_args"]
    assert value["Max"] is None and value["reason"] == "a collective is still computing it"
    # Nor is the tensor that is computed recorded when it is wrapped.
    assert not any(name.startswith("Tensor.stride.") for name in dump.names)


@watches_memory
def test_fault_22_many_handles_that_nobody_waits_for(run_script, tmp_path):
    result = _run(run_script, """
        def memory():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        def program(rank, debugger):
            init(rank)
            debugger._session.config.task = "statistics"
            debugger.start(nn.ModuleList([nn.Linear(2, 2)]))
            x = torch.ones(1)
            for i in range(3000):
                dist.all_reduce(x, async_op=True)
                if i == 1000:
                    before = memory()
            grown = memory() - before
            dist.barrier()
            debugger.stop()
            debugger.step()
            assert grown < 20 << 20, grown
        """)
    assert sum("all_reduce" in n for n in _dump(tmp_path, 0).names) == 3000
    assert result.returncode == 0


def test_waiting_inside_a_recorded_function(run_script, tmp_path):
    _run(run_script, """
        import types

        def finish(handles):
            for handle in handles:
                handle.wait()

        def program(rank, debugger):
            init(rank)
            library = types.SimpleNamespace(finish=finish)
            debugger.register_custom_api(library, "finish", "Mine")
            debugger.start(nn.ModuleList([nn.Linear(2, 2)]))
            x = torch.full((2,), float(rank))
            library.finish([dist.all_reduce(x, async_op=True)])
            debugger.stop()
            debugger.step()
        """)
    dump = _dump(tmp_path, 0)
    assert "Mine.finish.0.forward" in dump.names
    (reduced,) = dump.data["Distributed.all_reduce.0.forward"]["output"]
    assert reduced["Max"] == reduced["Min"] == 1
