"""Files by real torch and numpy are read right; files by us are read right by torch and numpy."""

from __future__ import annotations

import io
import os
import subprocess
import zipfile
import zlib
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch

import tensor_file_cases as cases

REPOSITORY = Path(__file__).resolve().parents[2]
CASES = dict(cases.torch_cases())
NUMPY_DTYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]


@pytest.fixture(scope="session")
def tool() -> Path:
    cli = os.environ.get("MSPROBE_CLI")
    build = Path(cli).resolve().parents[1] if cli else REPOSITORY / "build"
    subprocess.run(["cmake", "--build", build, "--target", "tensor_file_tool"], check=True,
                   stdout=subprocess.DEVNULL)
    return build / "bin" / "tensor_file_tool"


def ask(tool: Path, commands: list[list[object]]) -> list[str]:
    text = "".join("\t".join(map(str, command)) + "\n" for command in commands)
    answer = subprocess.run([tool], input=text, capture_output=True, text=True, check=True)
    lines = answer.stdout.splitlines()
    assert len(lines) == len(commands)
    return lines


@pytest.fixture(scope="session")
def torch_files(tool: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What the tool says to each case: as it reads torch's file, and as it writes its own."""
    folder = tmp_path_factory.mktemp("torch")
    commands: list[list[object]] = []
    for name, tensor in CASES.items():
        torch.save(tensor, folder / f"{name}.pt")
        commands += [
            ["read", folder / f"{name}.pt"],
            ["write", "pt", folder / f"{name}.pt", folder / f"{name}.ours.pt"],
            ["write", "npy", folder / f"{name}.pt", folder / f"{name}.ours.npy"],
            ["read", folder / f"{name}.ours.pt"],
        ]
    answers = iter(ask(tool, commands))
    return {
        name: {"folder": str(folder), "read": next(answers), "pt": next(answers),
               "npy": next(answers), "reread": next(answers)}
        for name in CASES
    }


@pytest.mark.parametrize("name", CASES)
def test_reads_torch_file(name: str, torch_files: dict[str, dict[str, str]]) -> None:
    assert torch_files[name]["read"] == cases.expectation(CASES[name])
    assert torch_files[name]["reread"] == cases.expectation(CASES[name])


@pytest.mark.parametrize("mmap", [False, True], ids=["read", "mmap"])
@pytest.mark.parametrize("name", CASES)
def test_torch_reads_our_pt(name: str, mmap: bool, torch_files: dict[str, dict[str, str]]) -> None:
    answer = torch_files[name]
    assert answer["pt"] == "written"
    path = f"{answer['folder']}/{name}.ours.pt"
    loaded = torch.load(path, weights_only=True, mmap=mmap)
    assert type(loaded) is torch.Tensor
    assert loaded.is_contiguous() and not loaded.requires_grad
    assert loaded.data_ptr() % 64 == 0 or loaded.numel() == 0 or not mmap
    assert cases.expectation(loaded) == cases.expectation(CASES[name])


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach()
    if tensor.dtype == torch.complex32:
        halves = torch.view_as_real(tensor).float()
        return torch.view_as_complex(halves.contiguous()).numpy()
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.dtype.is_floating_point and tensor.dtype not in (
        torch.float16, torch.float32, torch.float64,
    ):
        tensor = tensor.to(torch.float32)
    return tensor.contiguous().numpy()


@pytest.mark.parametrize("name", CASES)
def test_numpy_reads_our_npy(name: str, torch_files: dict[str, dict[str, str]]) -> None:
    answer = torch_files[name]
    assert answer["npy"] == "written"
    path = f"{answer['folder']}/{name}.ours.npy"
    loaded = np.load(path, allow_pickle=False)
    expected = as_numpy(CASES[name])
    assert (loaded.dtype, loaded.shape) == (expected.dtype, expected.shape)
    if loaded.dtype.name != str(CASES[name].dtype).removeprefix("torch."):
        # Converted: NaN stays NaN, and which of them torch makes of it is its own affair.
        loaded, expected = (canonical_nan(array) for array in (loaded, expected))
    assert loaded.tobytes() == expected.tobytes()


def canonical_nan(array: np.ndarray) -> np.ndarray:
    values = np.atleast_1d(array).view(np.float32).copy()
    values[np.isnan(values)] = np.nan
    return values


def test_our_pt_is_a_sound_zip(tool: Path, tmp_path: Path) -> None:
    torch.save(torch.arange(1000.0).reshape(10, 100).t(), tmp_path / "in.pt")
    assert ask(tool, [["write", "pt", tmp_path / "in.pt", tmp_path / "out.pt"]]) == ["written"]
    with zipfile.ZipFile(tmp_path / "out.pt") as archive:
        assert archive.testzip() is None
        assert [info.filename for info in archive.infolist()] == [
            "archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/version",
        ]


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_reads_every_pickle_protocol(
    protocol: int, zipped: bool, tool: Path, tmp_path: Path
) -> None:
    commands, expected = [], []
    for dtype, name in zip(cases.DTYPES, cases.DTYPE_IDS, strict=True):
        tensor = cases.base_tensor(dtype)[1:, ::2]
        path = tmp_path / f"{name}.pt"
        torch.save(tensor, path, pickle_protocol=protocol,
                   _use_new_zipfile_serialization=zipped)
        commands.append(["read", path])
        expected.append(cases.expectation(tensor))
    assert ask(tool, commands) == expected


def test_reads_big_endian_archive(tool: Path, tmp_path: Path) -> None:
    commands, expected = [], []
    for dtype in (torch.int16, torch.float32, torch.float64, torch.complex64, torch.bfloat16,
                  torch.uint8):
        tensor = cases.base_tensor(dtype)[1:, ::2]
        source = io.BytesIO()
        torch.save(tensor, source)
        swapped = tmp_path / f"{dtype}.pt"
        word = tensor.element_size() // (2 if dtype.is_complex else 1)
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(swapped, "w") as new:
            for info in old.infolist():
                contents = old.read(info)
                if info.filename.endswith("/byteorder"):
                    contents = b"big"
                if info.filename.endswith("/data/0"):
                    contents = np.frombuffer(contents, f"V{word}").tobytes()
                    contents = b"".join(contents[i:i + word][::-1]
                                        for i in range(0, len(contents), word))
                new.writestr(info.filename, contents)
        assert cases.expectation(torch.load(swapped)) == cases.expectation(tensor)
        commands.append(["read", swapped])
        expected.append(cases.expectation(tensor))
    assert ask(tool, commands) == expected


@pytest.mark.parametrize("force_zip64", [False, True], ids=["zip", "zip64"])
@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"]
)
def test_reads_archives_by_another_writer(
    method: int, force_zip64: bool, tool: Path, tmp_path: Path
) -> None:
    tensor = torch.arange(10_000.0)
    source = io.BytesIO()
    torch.save(tensor, source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "a.pt", "w", method) as new:
        for info in old.infolist():
            with new.open(info.filename, "w", force_zip64=force_zip64) as entry:
                entry.write(old.read(info))
    assert ask(tool, [["read", tmp_path / "a.pt"]]) == [cases.expectation(tensor)]


def test_reads_the_one_tensor_of_a_container(tool: Path, tmp_path: Path) -> None:
    tensor = torch.arange(6.0)
    containers = [
        [tensor], (1, tensor, "x"), {"grad": tensor, "step": 3}, OrderedDict(weight=tensor),
        {"a": [tensor, tensor]}, {"size": tensor.size(), "t": tensor, "half": torch.float16},
    ]
    for i, container in enumerate(containers):
        torch.save(container, tmp_path / f"{i}.pt")
    answers = ask(tool, [["read", tmp_path / f"{i}.pt"] for i in range(len(containers))])
    assert answers == [cases.expectation(tensor)] * len(containers)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "holds no tensor"),
        ([torch.ones(1), torch.zeros(1)], "holds 2 tensors"),
        (torch.eye(3).to_sparse(), "torch._utils._rebuild_sparse_tensor"),
        (torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "_rebuild_qtensor"),
        (torch.nn.Linear(2, 2), "torch.nn.modules.linear.Linear"),
        (torch.empty(3, device="meta"), "_rebuild_meta_tensor_no_storage"),
    ],
    ids=["integer", "two", "sparse", "quantized", "module", "meta"],
)
def test_says_what_it_does_not_read(value: object, text: str, tool: Path, tmp_path: Path) -> None:
    torch.save(value, tmp_path / "a.pt")
    code, message = ask(tool, [["read", tmp_path / "a.pt"]])[0].split("\t")[1:]
    assert code == "Unsupported"
    assert text in message and "a.pt" in message


@pytest.mark.parametrize("order", ["<", ">", "="])
@pytest.mark.parametrize("kind", NUMPY_DTYPES)
def test_reads_numpy_file(kind: str, order: str, tool: Path, tmp_path: Path) -> None:
    size = np.dtype(kind).itemsize
    data = (np.arange(24 * size, dtype=np.uint32) * 37 + 11).astype(np.uint8)
    values = data.view(np.dtype(kind)) if kind != "?" else data % 2 == 1
    values = values.reshape(4, 6).view(kind)
    arrays = [
        values, np.asfortranarray(values), values[1:3, ::2], values[1, 1], values[:0],
        values.reshape(2, 2, 6).transpose(2, 0, 1), np.array(values[2, 3]),
    ]
    commands, expected = [], []
    for version in ((1, 0), (2, 0), (3, 0)):
        for i, array in enumerate(arrays):
            path = tmp_path / f"{version[0]}-{i}.npy"
            stored = np.asarray(array).view(kind)
            stored = stored.astype(np.dtype(kind).newbyteorder(order), order="K")
            with path.open("wb") as file:
                np.lib.format.write_array(file, stored, version=version)
            commands.append(["read", path])
            dtype = torch.from_numpy(np.zeros(1, kind)).dtype
            crc = zlib.crc32(np.ascontiguousarray(array).tobytes())
            expected.append(f"{dtype}\t{tuple(stored.shape)}\t{crc:08x}")
    assert ask(tool, commands) == expected


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([{}, []], dtype=object), "object arrays are pickles"),
        (np.zeros(2, dtype="V2"), "bfloat16"),
        (np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]), "structured"),
        (np.array(["abc"]), "'<U3'"),
        (np.zeros(2, dtype="M8[s]"), "'<M8[s]'"),
        (np.zeros(2, dtype=np.longdouble), "'<f16'"),
    ],
    ids=["object", "void", "structured", "text", "time", "longdouble"],
)
def test_says_which_npy_it_does_not_read(
    array: np.ndarray, text: str, tool: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    code, message = ask(tool, [["read", tmp_path / "a.npy"]])[0].split("\t")[1:]
    assert code == "Unsupported"
    assert text in message
