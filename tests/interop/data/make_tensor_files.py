"""Writes the tensor files of this folder: real ones, for C++ tests that run without torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

FOLDER = Path(__file__).resolve().parent

values = torch.arange(6, dtype=torch.float32).reshape(2, 3)
torch.save(values.t(), FOLDER / "legacy.pt", _use_new_zipfile_serialization=False)
torch.save(values.to(torch.bfloat16)[:, 1:], FOLDER / "sliced_bfloat16.pt")
torch.save(torch.tensor([1 + 2j, 3 - 4j]).conj(), FOLDER / "conj.pt")
torch.save(torch.nn.Parameter(values), FOLDER / "parameter.pt")
torch.save(torch.tensor([1, 2, 65535], dtype=torch.uint16), FOLDER / "uint16.pt")
torch.save(torch.ones(1).expand(4, 2), FOLDER / "expanded.pt")
np.save(FOLDER / "fortran.npy", np.asfortranarray(values.numpy()))
np.save(FOLDER / "big_endian.npy", np.array([1 + 2j, 3], dtype=">c8"))
torch.serialization.set_crc32_options(False)
torch.save(values, FOLDER / "no_checksums.pt")
