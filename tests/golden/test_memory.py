"""A comparison larger than memory works: tensors are read by pieces, never kept."""

import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import program  # noqa: E402

ELEMENTS = 1 << 27  # 512 MiB of float32 a side, in files with holes
ALLOWED = 64 << 20


def make_dump(directory: Path) -> None:
    tensors = directory / "dump_tensor_data"
    tensors.mkdir(parents=True)
    name = "Torch.relu.0.forward"

    def tensor(place: str) -> dict:
        path = tensors / f"{name}.{place}.npy"
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({ELEMENTS},), }}".ljust(117) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            file.truncate(file.tell() + 4 * ELEMENTS)
        return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [ELEMENTS], "Max": 0.0, "Min": 0.0,
                "Mean": 0.0, "Norm": 0.0, "requires_grad": False, "data_name": path.name}

    record = {"input_args": [tensor("input.0")], "input_kwargs": {}, "output": [tensor("output.0")]}
    (directory / "dump.json").write_text(json.dumps(
        {"task": "tensor", "level": "L1", "dump_data_dir": str(tensors), "data": {name: record}}))
    (directory / "stack.json").write_text(json.dumps({name: ["File a.py, line 1, in f, \n relu(x)"]}))
    (directory / "construct.json").write_text(json.dumps({name: None}))


def anonymous_bytes(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def test_compare_needs_no_memory_for_its_tensors(tmp_path):
    make_dump(tmp_path / "target")
    make_dump(tmp_path / "golden")
    job = subprocess.Popen([program(), "graph", "target", "golden", "-o", "out"], cwd=tmp_path,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0
    while job.poll() is None:
        peak = max(peak, anonymous_bytes(job.pid))
        time.sleep(0.002)
    printed = job.stdout.read()
    assert job.returncode == 0, printed
    assert "unreadable tensors                          0" in printed, printed
    assert 0 < peak < ALLOWED, f"{peak >> 20} MiB of anonymous memory"
