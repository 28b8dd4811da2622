"""The wheel of ./dev wheel works in an empty environment, with no library of this machine but glibc's."""

from __future__ import annotations

import re
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What every Linux of the wheel's tag has: manylinux' own list.
EVERYWHERE = re.compile(r"(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z))\.so")


def output_of(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={"PATH": "/usr/bin:/bin", "HOME": str(cwd)}, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheels = list((ROOT / "build/wheel").glob("*.whl"))
    assert len(wheels) == 1, "./dev wheel makes it"
    assert "manylinux" in wheels[0].name
    directory = tmp_path_factory.mktemp("installed")
    venv.create(directory / "venv", with_pip=True)
    output_of(directory / "venv/bin/pip", "install", "--no-index", "--no-deps", wheels[0], cwd=directory)
    return directory


def test_the_command(installed: Path) -> None:
    command = installed / "venv/bin/msprobe"
    assert re.match(r"msprobe \d", output_of(command, "--version", cwd=installed))
    sample = ROOT / "examples/sample"
    said = output_of(command, "graph", sample / "target", sample / "golden", "-o", "out", cwd=installed)
    assert "first divergence: Tensor.mul.1.forward" in said
    assert list((installed / "out").glob("*.vis"))
    output_of(command, "compare", sample / "target", sample / "golden", "-o", "tables", "--format", "xlsx",
              cwd=installed)
    assert list((installed / "tables").glob("*.xlsx"))


def test_the_package(installed: Path) -> None:
    code = ("import sys, msprobe; result = msprobe.compare(*sys.argv[1:]); "
            "import msprobe._viewer, msprobe._core; print(msprobe.__file__)")
    sample = ROOT / "examples/sample"
    said = output_of(installed / "venv/bin/python", "-c", code, sample / "target", sample / "golden", cwd=installed)
    assert str(installed) in said


def test_no_other_library_of_this_machine(installed: Path) -> None:
    (packages,) = (installed / "venv/lib").glob("python3.*/site-packages")
    binaries = [*packages.glob("msprobe/*.so"), packages / "msprobe.scripts/msprobe"]
    assert len(binaries) == 4
    for binary in binaries:
        lines = output_of("ldd", binary, cwd=installed).splitlines()
        foreign = [line for line in lines if not EVERYWHERE.search(line) and str(packages) not in line]
        assert not foreign, (binary.name, foreign)
    bundled = " ".join(path.name for path in (packages / "msprobe.libs").iterdir())
    for library in ("xlsxwriter", "sqlite3", "yaml-cpp", "simdjson"):
        assert library in bundled
