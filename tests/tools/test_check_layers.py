"""What tools/check_layers.py finds in a small tree of two layers and a front."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402

RULES = {
    "root": "src",
    "layers": {"base": [], "dump": ["base"], "viewer": ["dump"]},
    "fronts": {"bindings": ["dump"]},
    "third_party": {"zlib": ["dump"]},
}
FILES = {
    "src/base/CMakeLists.txt": "msprobe_layer(base LIBS deflate)\n",
    "src/dump/CMakeLists.txt": "msprobe_layer(dump DEPS base LIBS ZLIB::ZLIB)\n",
    "src/viewer/CMakeLists.txt": "msprobe_layer(viewer DEPS dump)\n",
    "bindings/CMakeLists.txt": "target_link_libraries(msprobe_core PRIVATE msprobe_options msprobe_dump)\n",
    "src/dump/dump.cc": '#include <zlib.h>\n#include "base/file.h"\n',
    "bindings/module.cc": '#include "base/file.h"\n#include "dump/dump.h"\n',
    "ARCHITECTURE.md": "| `src/base` | files | – |\n| `src/dump` | dumps | base |\n"
                       "| `src/viewer` | requests | dump |\n| `bindings` | modules | dump |\n",
}  # fmt: skip


def problems(root: Path, monkeypatch: pytest.MonkeyPatch, **changed: str) -> list[str]:
    for name, text in (FILES | changed).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for layer in RULES["layers"]:
        (root / "src" / layer / "README.md").write_text(layer)
    monkeypatch.setattr(check_layers, "ROOT", root)
    return [*check_layers.check_cpp(RULES), *check_layers.check_cmake(RULES), *check_layers.check_table(RULES)]


def test_what_points_down_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems(tmp_path, monkeypatch) == []


@pytest.mark.parametrize(("name", "text", "found"), [
    ("src/dump/dump.cc", '#include "viewer/api.h"', "src/dump/dump.cc: dump must not use viewer (viewer/api.h)"),
    ("src/base/file.cc", "#include <zlib.h>", "src/base/file.cc: zlib.h belongs to dump only"),
    ("bindings/module.cc", '#include "viewer/api.h"',
     "bindings/module.cc: bindings must not use viewer (viewer/api.h)"),
    ("src/dump/CMakeLists.txt", "msprobe_layer(dump LIBS ZLIB::ZLIB)",
     "src/dump/CMakeLists.txt: nothing, but tools/layers.toml says base"),
    ("src/viewer/CMakeLists.txt", "msprobe_layer(viewer\n  DEPS base\n  dump)",
     "src/viewer/CMakeLists.txt: base, dump, but tools/layers.toml says dump"),
    ("src/viewer/CMakeLists.txt", "add_library(viewer)",
     "src/viewer/CMakeLists.txt: no layer, but tools/layers.toml says dump"),
    ("bindings/CMakeLists.txt", "target_link_libraries(msprobe_core PRIVATE msprobe_dump\n msprobe_viewer)",
     "bindings/CMakeLists.txt: dump, viewer, but tools/layers.toml says dump"),
    ("ARCHITECTURE.md", FILES["ARCHITECTURE.md"].replace("| base |", "| – |"),
     "ARCHITECTURE.md: src/dump stands on –, but tools/layers.toml says base"),
    ("ARCHITECTURE.md", FILES["ARCHITECTURE.md"].replace("| `bindings` | modules | dump |", ""),
     "bindings: missing from the table in ARCHITECTURE.md"),
])  # fmt: skip
def test_what_does_not_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, found: str
) -> None:
    assert problems(tmp_path, monkeypatch, **{name: text}) == [found]
