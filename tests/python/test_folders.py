"""The two framework folders are read side by side: what one file of theirs does, its namesake does."""

from pathlib import Path

import msprobe

PACKAGE = Path(msprobe.__file__).parent


def test_framework_folders_have_the_same_files():
    names = [sorted(path.name for path in (PACKAGE / framework).iterdir() if path.name != "__pycache__")
             for framework in ("pytorch", "mindspore")]
    assert names[0] == names[1]
