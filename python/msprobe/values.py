"""How values that are no framework's look in a record: slices, complex numbers, NumPy's."""

import json
import sys
from itertools import islice
from typing import Any, Iterable, Iterator, List, Optional, Tuple


Place = Tuple[str, ...]


# As much as the records take of one value.
_DEPTH, _PARTS = 20, 100_000


def parts(value: Any) -> Iterator[Tuple[Place, Any]]:
    """(where it is, it): what lists, tuples, dictionaries and dataclasses hold, and what those in them
    hold; under the names that they have in a record."""
    waiting: List[Tuple[Place, Any, Tuple[int, ...]]] = [((), value, ())]
    left = _PARTS
    while waiting and left > 0:
        left -= 1
        place, value, around = waiting.pop()
        items = _items(value)
        if items is None:
            yield place, value
        elif len(place) < _DEPTH and id(value) not in around:  # it may hold itself
            inside = (*around, id(value))
            found = [((*place, _text(key)), item, inside) for key, item in islice(items, left)]
            waiting.extend(reversed(found))


def _items(value: Any) -> Optional[Iterable[Tuple[Any, Any]]]:
    """None: it is no container."""
    if isinstance(value, dict):
        return dict.items(value)
    if isinstance(value, (list, tuple)):
        names = getattr(type(value), "_fields", None) if isinstance(value, tuple) else None
        is_named = isinstance(names, tuple) and len(names) == len(value)
        return zip(names, value) if is_named else enumerate(value)
    fields = getattr(type(value), "__dataclass_fields__", None)
    if not isinstance(fields, dict) or isinstance(value, type):
        return None
    return _fields(value, fields)


def _fields(value: Any, names: Iterable[str]) -> Iterator[Tuple[str, Any]]:
    for name in names:
        try:
            item = getattr(value, name)
        except Exception:  # computed: left out, as the engine does
            continue
        yield name, item


def _text(key: Any) -> str:
    """As the engine writes it: nothing where the key has no text."""
    if isinstance(key, str):
        return key
    try:
        return str(key)
    except Exception:
        return ""


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
    # As text: mindstudio-probe's compare takes a value for one number, and ends where it is a list.
    shown = str(value.tolist()) if value.size <= 64 and value.dtype.kind in "biuf" else " ".join(
        numpy.array2string(value, threshold=64).split()
    )
    return "numpy.ndarray", json.dumps(shown)
