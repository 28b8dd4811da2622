"""Code objects that stand in for the code of a Python function while its calls are watched."""

import inspect
import warnings
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, Optional, Tuple

_HOOK = "msprobe hook"


def make_trampoline(
    function: FunctionType, hook: Callable[[Any, Any], Any]
) -> Tuple[CodeType, Optional[inspect.Signature]]:
    """(code that runs ``hook(args, kwargs)``, signature to show meanwhile).

    The function object stays what it is, so whoever holds it is seen too. The signature is None
    where there is nothing to add: the function brings its own, or has none.
    """
    code = function.__code__
    free = ", ".join(code.co_freevars)
    keep = f"  if 0: {free},\n" if free else ""
    source = f"def outer({free}):\n def inner(*args, **kwargs):\n{keep}  return {_HOOK!r}(args, kwargs)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a text is called, until it is replaced
        outer = compile(source, code.co_filename, "exec").co_consts
    inner = _nested(_nested(outer, "outer").co_consts, "inner")
    changes: Dict[str, Any] = {
        "co_consts": tuple(hook if const == _HOOK else const for const in inner.co_consts),
        "co_name": code.co_name,
        "co_filename": code.co_filename,
        "co_firstlineno": code.co_firstlineno,
    }
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = code.co_qualname
    signature = None
    if "__signature__" not in function.__dict__:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            pass
    return inner.replace(**changes), signature


def _nested(consts: Tuple[Any, ...], name: str) -> CodeType:
    return next(c for c in consts if inspect.iscode(c) and c.co_name == name)

