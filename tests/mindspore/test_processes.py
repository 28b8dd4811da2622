"""Runs the tests that need MindSpore, each file in a process of its own, under a timeout."""

import json
import os
import re
import subprocess

import pytest

from free_port import free_port
from limited import HERE, finish, run, start


# MindSpore 2.10 has only those of plain MindSpore.
@pytest.mark.parametrize("world, name, queues", [
    ("plain", "plain_recorded.py", False),
    ("plain", "plain_recorded.py", True),
    ("plain", "plain_gradients.py", False),
    ("plain", "plain_untouched.py", False),
    ("plain", "plain_programs.py", False),
    ("plain", "plain_seeds.py", False),
    ("plain", "choices.py", False),
    ("msadapter", "choices.py", False),
    ("msadapter", "msadapter_recorded.py", False),
    ("msadapter", "msadapter_recorded.py", True),
    ("msadapter", "msadapter_seeds.py", False),
])
def test_file(world, name, queues, tmp_path):
    env = {"MSPROBE_TEST_MSADAPTER": "1"} if world == "msadapter" else {}
    if queues:
        env["MSPROBE_KEEP_QUEUES"] = "1"
    done = run("-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", HERE / name,
               cwd=tmp_path, **env)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert passed and int(passed.group(1)) > 0


def numbers(value):
    """Each tensor of a value as the one number that it is full of."""
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    if "shape" not in value:
        return []
    assert value["Max"] == value["Min"]
    return [value["Max"]]


def check_collectives(data, rank):
    own = rank + 1
    for name, inputs, outputs in (
        ("all_reduce.0", [own], [3]),
        ("all_reduce.1", [own], [3]),  # asynchronous: what it is after wait()
        ("all_reduce.2", [own], None),  # nobody waits
        ("broadcast.0", [own], [2]),
        ("all_gather.0", [0, 0, own], [1, 2, own]),
        ("gather.0", [own, 0, 0], [own, 0, 0] if rank else [own, 1, 2]),
        ("scatter.0", [0, 5, 6], [5 + rank, 5, 6]),
    ):
        record = data[f"MintDistributed.{name}.forward"]
        assert numbers(record["input_args"]) == inputs, name
        assert ("output" in record) == (outputs is not None), name
        assert outputs is None or numbers(record["output"]) == outputs, name


def test_plain_collectives_of_two_ranks(tmp_path):
    cluster = {"MS_WORKER_NUM": "2", "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": str(free_port())}
    program = (HERE / "two_ranks.py", tmp_path / "dump")
    scheduler = start(*program, cwd=tmp_path, MS_ROLE="MS_SCHED", **cluster)
    workers = [start(*program, cwd=tmp_path, MS_ROLE="MS_WORKER", MS_NODE_ID=str(rank), **cluster)
               for rank in (0, 1)]
    done = [finish(worker) for worker in workers]
    scheduler.terminate()
    scheduler.communicate()
    assert all(worker.returncode == 0 for worker in done), done
    units = sorted((tmp_path / "dump" / "step0").iterdir())
    assert [unit.name for unit in units] == ["rank0", "rank1"]
    for rank, unit in enumerate(units):
        data = json.loads((unit / "dump.json").read_text())["data"]
        record = data["Primitive.all_reduce.AllReduce.0.forward"]
        assert record["input_args"][0]["Max"] == rank + 1
        assert record["output"][0]["Max"] == record["output"][0]["Min"] == 3
        check_collectives(data, rank)


@pytest.fixture(scope="module")
def cli():
    path = os.environ.get("MSPROBE_CLI", str(HERE.parent.parent / "build" / "bin" / "msprobe"))
    if not os.path.exists(path):
        pytest.skip("the command line tool is not built, or MSPROBE_CLI does not name it")
    return path


def compare(cli, directory, target, golden):
    """What `msprobe -f mindspore graph` says of two dumps of one rank."""
    pair = directory / "compare.json"
    pair.write_text(json.dumps({
        "npu_path": str(target), "bench_path": str(golden), "is_print_compare_log": True}))
    done = subprocess.run(
        [cli, "-f", "mindspore", "graph", "-i", str(pair), "-o", str(directory / "out"), "--json"],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["units"][0]


@pytest.mark.parametrize("fault", [False, True])
def test_plain_comparison_of_cells(cli, fault, tmp_path):
    for name in ("golden", "target"):
        (tmp_path / name).mkdir()
        argument = ["fault"] if fault and name == "target" else []
        done = run(HERE / "cell_dump.py", tmp_path / name, *argument, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    total = compare(cli, tmp_path, *(
        tmp_path / name / "dump" / "step0" / "rank0" for name in ("target", "golden")))
    assert total["golden"]["matched"] == total["golden"]["nodes"] > 20
    if not fault:
        assert total["bands"][1:] == [0, 0, 0, 0] and total["culprits"] == 0
    else:
        assert [c["name"] for c in total["first_culprits"]] == ["Tensor.__mul__.0.forward"]


@pytest.mark.parametrize("fault", [False, True])
def test_compare_with_pytorch(cli, fault, tmp_path):
    """The same model with the same weights, recorded under PyTorch and under MSAdapter."""
    done = run(HERE / "cross_dump.py", tmp_path, *(["fault"] if fault else []), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    total = compare(cli, tmp_path, tmp_path / "dump" / "step0" / "rank0", HERE / "data" / "pytorch")
    assert total["golden"]["matched"] == total["golden"]["nodes"] == 60
    if not fault:
        assert total["target"]["unmatched"] == 0
        assert total["bands"] == [60, 0, 0, 0, 0]
        assert total["culprits"] == 0
    else:
        names = [culprit["name"] for culprit in total["first_culprits"]]
        # the call that only the faulty program makes
        assert names == ["Tensor.__mul__.0.forward"]
