"""The golden cases under pytest."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import Case, discover  # noqa: E402


@pytest.mark.parametrize("directory", discover(), ids=lambda d: f"{d.parent.name}/{d.name}")
def test_case(directory):
    problems = Case(directory).check()
    assert not problems, "\n".join(problems)
