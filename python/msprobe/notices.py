"""What the collector says while it works: progress on stdout, warnings on stderr, each kind once."""

import difflib
import sys
from typing import Any, Collection, Optional, Set, TextIO

_said: Set[str] = set()


def _print(text: str, file: TextIO) -> None:
    """Training goes on where nobody can read it."""
    try:
        print(text, file=file, flush=True)
    except UnicodeEncodeError:
        _print(text.encode("ascii", "backslashreplace").decode("ascii"), file)
    except (OSError, ValueError):  # the reader has gone away, or the file is closed
        pass


def say(text: str) -> None:
    _print(text, sys.stdout)


def warn(text: str, *, kind: Optional[str] = None) -> None:
    """`kind`: warnings of one kind are shown once a process."""
    if kind is not None:
        if kind in _said:
            return
        _said.add(kind)
    _print(f"msprobe: warning: {text}", sys.stderr)


def did_you_mean(word: Any, words: Collection[Any], likeness: float = 0.5) -> str:
    """"; did you mean …?" with the nearest of `words`, or nothing: the more there are, the more like it must be."""
    found = difflib.get_close_matches(str(word), [str(w) for w in words], 1, likeness)
    if not found:
        lower = {str(w).lower(): str(w) for w in words}
        found = [lower[str(word).lower()]] if str(word).lower() in lower else []
    return f'; did you mean "{found[0]}"?' if found else ""


def span(numbers: Collection[int]) -> str:
    if not numbers:
        return "none"
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


BANNER = "\n".join(
    ("*" * 76, "*" + "msprobe ends successfully.".center(74) + "*", "*" * 76)
)
