"""What seed_all does in every framework: its arguments, Python, NumPy, and how dropout ends."""

import contextlib
import functools
import inspect
import os
import random
from typing import Any, Callable, Iterable

from msprobe.errors import MsprobeError


def seed_python(seed: Any, mode: Any, rm_dropout: Any) -> None:
    """Checks the arguments of seed_all and seeds what is not the framework's."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= 2**32 - 1:
        raise MsprobeError(f"seed is {seed!r}, allowed are whole numbers from 0 to 4294967295")
    for name, value in (("mode", mode), ("rm_dropout", rm_dropout)):
        if not isinstance(value, bool):
            raise MsprobeError(f"{name} is {value!r}, allowed are True and False")
    os.environ["PYTHONHASHSEED"] = str(seed)  # for processes that are started from here
    random.seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed)


def replace_functions(owner: Any, names: Iterable[str], make: Callable[[Any], Any]) -> None:
    """Each function `owner.name` that exists becomes make(function), once."""
    for name in names:
        function = getattr(owner, name, None)
        if function is None or getattr(function, "_msprobe_identity", False):
            continue
        identity = make(function)
        _take_the_place_of(function, identity)
        if inspect.ismodule(owner):
            identity.__module__ = owner.__name__  # where it is found; the original may be a built-in
        identity._msprobe_identity = True
        setattr(owner, name, identity)


def _take_the_place_of(function: Any, identity: Any) -> None:
    """It is pickled by its name, and its own code is what compilers are to read."""
    functools.update_wrapper(identity, function)
    with contextlib.suppress(TypeError, ValueError):
        identity.__signature__ = inspect.signature(function)
    del identity.__wrapped__


def replace_constructors(owner: Any, names: Iterable[str], make: Callable[[Any], Any]) -> None:
    """Objects of each class `owner.name` that are made from here on are made by make(__init__)."""
    for name in names:
        if hasattr(owner, name):
            replace_functions(getattr(owner, name), ["__init__"], make)


def without_dropout(construct: Any) -> Any:
    """An __init__ that makes a dropout module which drops nothing."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        self.p = 0.0
        if hasattr(self, "keep_prob"):
            self.keep_prob = 1.0

    return __init__
