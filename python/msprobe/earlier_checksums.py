"""The checksums of an earlier dump, which decide what tensors are saved."""

import json
import os
from typing import Any, Callable, Dict, Iterator, List

from msprobe.errors import MsprobeError
from msprobe.notices import warn


_INPUTS = ("input_args", "input_kwargs", "input")


def read_checksums(
    bench_path: str, step: int, rank: int, takes: Callable[[str], bool]
) -> Dict[str, List[str]]:
    """By record, of its tensors in the order in which the collector meets them. `takes`: whether this
    run records "input", "output"."""
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
        checksums = {}
        for name, entry in data.items():
            known = {"input" if key in _INPUTS else "output" for key in entry if key in (*_INPUTS, "output")}
            wanted = {word for word in known | {"input", "output"} if takes(word)}
            if known and not wanted <= known:  # what this run records besides would shift the others
                warn(f"bench_path was collected with another data_mode, no tensors of {name} and others "
                     "like it are saved", kind="bench data_mode")
                continue
            taken = {key: value for key, value in entry.items()
                     if not (key in _INPUTS and "input" not in wanted)
                     and not (key == "output" and "output" not in wanted)}
            checksums[name] = list(_checksums(taken))
        return checksums
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
