"""What start() is given, and what is said when it is wrong."""

from typing import Any, List

from msprobe.config import is_number
from msprobe.errors import MsprobeError
from msprobe.framework import Framework


def check_start(framework: Framework, level: str, model: Any, token_range: Any, rank_id: Any) -> None:
    models = models_of(model)
    if not models and level in ("L0", "mix"):
        raise MsprobeError(f"start() needs a model at level {level}")
    for item in models:
        if not framework.is_model(item):
            raise MsprobeError("model is neither a model of the framework nor a list or tuple of them, "
                               f"but {_what_it_is(item)}")
    if token_range is not None:
        if not models:
            raise MsprobeError("token_range needs a model, its calls are what is counted")
        valid = isinstance(token_range, (list, tuple)) and len(token_range) == 2
        if not valid or not all(is_number(n) for n in token_range):
            raise MsprobeError(f"token_range is {token_range!r}, allowed is [first, last]")
        if token_range[0] > token_range[1]:
            raise MsprobeError(f"token_range is {token_range}, the first is behind the last")
    if rank_id is not None and not is_number(rank_id):
        raise MsprobeError(f"rank_id is {rank_id!r}, allowed are whole numbers from 0 on")


def models_of(model: Any) -> List[Any]:
    """What start() was given: none, one, or a list of them."""
    return list(model) if isinstance(model, (list, tuple)) else [] if model is None else [model]


def _what_it_is(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
