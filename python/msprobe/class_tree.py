"""Names of modules and of what they hold; the tree of classes."""

from typing import Any, Iterator


def writable(name: str) -> str:
    """Half a surrogate pair has no place in UTF-8."""
    # Not by the methods of a subclass, which may do anything.
    return str.encode(name, "utf-8", "backslashreplace").decode("utf-8")


def label(module: Any) -> str:
    return getattr(module, "__name__", None) or type(module).__name__


def subclasses(base: type) -> Iterator[type]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)
