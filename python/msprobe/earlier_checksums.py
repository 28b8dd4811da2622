"""The checksums of an earlier dump, which decide what tensors are saved."""

import json
import os
from typing import Any, Callable, Dict, Iterator, List, Optional

from msprobe.errors import MsprobeError
from msprobe.notices import warn

# Parts of a record, and what data_mode calls them.
_WORDS = {"input_args": "input", "input_kwargs": "input", "input": "input", "output": "output"}


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
        warn("bench_path holds no dump of this step and rank, no tensors are saved: collect it there "
             f"with summary_mode md5: {directory}")
        return {}
    path = os.path.join(directory, unit, "dump.json")
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)["data"]
        checksums = {}
        for name, entry in data.items():
            sections = _taken(entry, takes)
            if sections is None:
                warn(f"bench_path was collected with another data_mode, no tensors of {name} and others "
                     "like it are saved", kind="bench data_mode")
            else:
                checksums[name] = list(_checksums(sections))
        return checksums
    except OSError as error:
        raise MsprobeError(
            f"bench_path cannot be read ({error.strerror}), choose another one: {path}"
        ) from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise MsprobeError(
            f"bench_path holds no whole dump, `msprobe inspect --repair` may mend it: {path}"
        ) from None


def _taken(entry: Any, takes: Callable[[str], bool]) -> Optional[Dict[str, Any]]:
    """What of the record this run records as well. None: it records more, which shifts all else."""
    known = {_WORDS[part] for part in entry if part in _WORDS}
    if known and any(takes(word) and word not in known for word in ("input", "output")):
        return None
    return {part: value for part, value in entry.items() if part not in _WORDS or takes(_WORDS[part])}


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
