"""The golden cases under pytest."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import Case, discover  # noqa: E402


@pytest.mark.parametrize("directory", discover(), ids=lambda d: f"{d.parent.name}/{d.name}")
def test_case(directory):
    problems = Case(directory).check()
    assert not problems, "\n".join(problems)


def inputs(cases: Path) -> dict[str, bytes]:
    """What make_cases.py writes of the cases that it makes."""
    files = (path for path in cases.rglob("*") if path.is_file())
    names = {str(path.relative_to(cases)): path for path in files}
    return {name: path.read_bytes() for name, path in names.items()
            if not name.startswith("graph/") and "/expected/" not in name}


def test_cases_are_as_make_cases_writes_them(tmp_path):
    shutil.copytree(HERE, tmp_path / "tests/golden", ignore=shutil.ignore_patterns("cases", "__pycache__"))
    (tmp_path / "tests/interop").symlink_to(HERE.parent / "interop")
    subprocess.run([sys.executable, tmp_path / "tests/golden/make_cases.py"], check=True)
    made, kept = inputs(tmp_path / "tests/golden/cases"), inputs(HERE / "cases")
    assert sorted(made) == sorted(kept)
    assert [name for name in made if made[name] != kept[name]] == []
