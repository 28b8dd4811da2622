"""Tensors of every dtype and layout, and the bytes that any reader must find in them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np
import torch

REAL = [
    torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64,
    torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
    torch.bfloat16, torch.float16, torch.float32, torch.float64,
]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
DTYPES = REAL + COMPLEX
DTYPE_IDS = [str(dtype).removeprefix("torch.") for dtype in DTYPES]


def base_tensor(dtype: torch.dtype, rows: int = 4, columns: int = 6) -> torch.Tensor:
    """Every bit pattern a byte can have comes up sooner or later: no value is special here."""
    count = rows * columns
    size = torch.empty(0, dtype=dtype).element_size()
    if dtype == torch.bool:
        return (torch.arange(count) % 3 == 0).reshape(rows, columns)
    data = (np.arange(count * size, dtype=np.uint32) * 37 + 11).astype(np.uint8)
    return torch.frombuffer(bytearray(data.tobytes()), dtype=dtype).reshape(rows, columns)


def expanded(t: torch.Tensor) -> torch.Tensor:
    return t[:1, :3].expand(5, 3)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "sliced": lambda t: t[1:3, 2:5],
    "stepped": lambda t: t[::2, 1::3],
    "row": lambda t: t[2],
    "expanded": expanded,
    "scalar": lambda t: t[1, 1],
    "empty": lambda t: t[:0],
    "empty_wide": lambda t: t[:, :0],
    "three_d": lambda t: t.reshape(2, 2, 6).permute(2, 0, 1),
}


def shared_storage(t: torch.Tensor) -> torch.Tensor:
    """The second half of a storage that another tensor uses too."""
    return t.reshape(-1)[t.numel() // 2 :]


def raw_bytes(t: torch.Tensor) -> bytes:
    """The contiguous little-endian values, with the conjugate and negative bits resolved."""
    t = t.detach()
    if t.dtype != torch.complex32:  # torch has no copy kernels for all its operations
        t = t.resolve_conj().resolve_neg()
    if t.numel() == 0:
        return b""
    return t.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def shape_text(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def expectation(t: torch.Tensor) -> str:
    return f"{t.dtype}\t{shape_text(t.shape)}\t{zlib.crc32(raw_bytes(t)):08x}"


def torch_cases() -> Iterator[tuple[str, torch.Tensor]]:
    """Named tensors as they are given to torch.save."""
    for dtype, name in zip(DTYPES, DTYPE_IDS, strict=True):
        for layout, make in LAYOUTS.items():
            yield f"{name}-{layout}", make(base_tensor(dtype))
        yield f"{name}-shared", shared_storage(base_tensor(dtype))
    for dtype in (torch.complex64, torch.complex128):
        t = base_tensor(dtype)
        name = str(dtype).removeprefix("torch.")
        yield f"{name}-conj", t.conj()
        yield f"{name}-conj_transposed", t.mH
        yield f"{name}-neg", t.conj().imag
        yield f"{name}-neg_row", t.conj().imag[1, ::2]
    for dtype in (torch.float32, torch.bfloat16, torch.complex64):
        name = str(dtype).removeprefix("torch.")
        parameter = torch.nn.Parameter(base_tensor(dtype))
        yield f"{name}-parameter", parameter
        with_state = torch.nn.Parameter(base_tensor(dtype))
        with_state.note = 1
        yield f"{name}-parameter_with_state", with_state
        yield f"{name}-buffer", torch.nn.Buffer(base_tensor(dtype))
        yield f"{name}-requires_grad", base_tensor(dtype).requires_grad_()
    yield "float32-large", torch.arange(300_000, dtype=torch.float32).reshape(500, 600).t()
    seven_d = torch.arange(128.0).reshape(2, 2, 2, 2, 2, 2, 2)
    yield "float32-seven_d", seven_d.permute(6, 0, 5, 1, 4, 2, 3)
