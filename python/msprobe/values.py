"""How values that are no framework's look in a record: slices, complex numbers, NumPy's."""

import json
import sys
from typing import Any, Iterator, Optional, Tuple


Place = Tuple[str, ...]


def parts(value: Any, place: Place = (), around: Tuple[int, ...] = ()) -> Iterator[Tuple[Place, Any]]:
    """(where it is, it): what lists, tuples and dictionaries hold, and what those in them hold."""
    if isinstance(value, dict):
        items: Any = list(value.items())
    elif isinstance(value, (list, tuple)):
        items = list(enumerate(value))
    else:
        yield place, value
        return
    if id(value) in around:  # it holds itself
        return
    for key, item in items:
        yield from parts(item, (*place, str(key)), (*around, id(value)))


def describe_plain(value: Any) -> Optional[Tuple[str, str]]:
    """(type, value as JSON) of what is recorded with a value; None: it is something else."""
    if isinstance(value, slice):
        parts = [_plain(part) for part in (value.start, value.stop, value.step)]
        return "slice", json.dumps(parts)
    if value is Ellipsis:
        return "ellipsis", '"..."'
    if isinstance(value, complex):
        return "complex", json.dumps(str(value))
    return _describe_numpy(value)


def _plain(part: Any) -> Any:
    return part if part is None or isinstance(part, (int, float, str)) else str(part)


def _describe_numpy(value: Any) -> Optional[Tuple[str, str]]:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    if isinstance(value, numpy.generic):
        item = value.item()
        text = item if isinstance(item, (int, float, bool, str)) else str(item)
        return f"numpy.{type(value).__name__}", json.dumps(text)
    shown = value.tolist() if value.size <= 64 and value.dtype.kind in "biuf" else " ".join(
        numpy.array2string(value, threshold=64).split()
    )
    return "numpy.ndarray", json.dumps(shown)
