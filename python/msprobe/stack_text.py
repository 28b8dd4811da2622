"""How a Python stack looks in stack.json."""

import linecache
from typing import Any, List


def format_stack(frames: List[Any]) -> List[str]:
    """`frames`: (file, line, function), the innermost first."""
    return [
        f"File {file}, line {line}, in {function}, \n {linecache.getline(file, line).strip()}"
        for file, line, function in frames
    ]
