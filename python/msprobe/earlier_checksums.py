"""The checksums of an earlier dump, which decide what tensors are saved."""

import json
import os
from typing import Any, Dict, Iterator, List

from msprobe.errors import MsprobeError
from msprobe.notices import warn


def read_checksums(bench_path: str, step: int, rank: int) -> Dict[str, List[str]]:
    """By record, of its tensors in the order in which the collector meets them."""
    directory = os.path.join(bench_path, f"step{step}")
    wanted = f"rank{rank}"
    units = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    unit = wanted if wanted in units else units[0] if len(units) == 1 else None
    if unit is None:
        warn(f"bench_path holds no dump of this step and rank, no tensors are saved: {directory}")
        return {}
    path = os.path.join(directory, unit, "dump.json")
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)["data"]
        return {name: list(_checksums(entry)) for name, entry in data.items()}
    except OSError as error:
        raise MsprobeError(f"bench_path cannot be read ({error.strerror}): {path}") from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise MsprobeError(
            f"bench_path holds no whole dump, `msprobe inspect --repair` may mend it: {path}"
        ) from None


def _checksums(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "dtype" in value and "shape" in value:
            yield str(value.get("md5", ""))
        else:
            for item in value.values():
                yield from _checksums(item)
    elif isinstance(value, list):
        for item in value:
            yield from _checksums(item)
