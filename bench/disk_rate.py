"""What the disk under a folder takes, without any tool: files of given sizes, written one after the other."""

import dataclasses
import os
import pathlib
import time

_CHUNK = os.urandom(1 << 20)


@dataclasses.dataclass
class Rates:
    """Bytes a second: until the kernel has the files, and until the disk has them."""

    kernel: float
    disk: float


def sizes_of(folder: pathlib.Path) -> list[int]:
    """Of the files below `folder`, each once however many names it has."""
    found = {}
    for path in folder.rglob("*"):
        status = path.stat()
        if path.is_file():
            found[status.st_ino] = status.st_size
    return list(found.values())


def _write(path: pathlib.Path, size: int) -> None:
    with open(path, "wb", buffering=0) as file:
        for begin in range(0, size, len(_CHUNK)):
            file.write(memoryview(_CHUNK)[:min(len(_CHUNK), size - begin)])


def measure(folder: pathlib.Path, sizes: list[int]) -> Rates:
    folder.mkdir(parents=True)
    os.sync()  # what others have left to write is not to be waited for below
    start = time.perf_counter()
    for number, size in enumerate(sizes):
        _write(folder / str(number), size)
    written = time.perf_counter() - start
    for number in range(len(sizes)):
        handle = os.open(folder / str(number), os.O_RDONLY)
        os.fdatasync(handle)
        os.close(handle)
    return Rates(sum(sizes) / written, sum(sizes) / (time.perf_counter() - start))
