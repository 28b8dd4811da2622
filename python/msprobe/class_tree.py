"""The tree of classes."""

from typing import Iterator


def subclasses(base: type) -> Iterator[type]:
    """All of them, at any depth."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)
