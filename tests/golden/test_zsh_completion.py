"""The zsh script in a real, interactive zsh: what a tab makes of what is typed."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import program  # noqa: E402
from schema_check import schema_problems  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
PATIENCE_SECONDS = 60


class Zsh:
    """An interactive shell with the completion loaded."""

    def __init__(self, folder: Path):
        (folder / "bin").mkdir()
        (folder / "bin/msprobe").symlink_to(program())
        (folder / "a_dump").mkdir()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {
                "PATH": f"{folder}/bin:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder)})
        self.run("PROMPT='> '; unsetopt zle_bracketed_paste prompt_sp; autoload -Uz compinit; "
                 "compinit -D -u; source <(msprobe completion zsh); print rea''dy", "ready")

    def read_until(self, wanted: str) -> str:
        seen = ""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not re.search(wanted, seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {wanted!r} in {seen!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                seen += os.read(self.fd, 65536).decode(errors="replace")
        return seen

    def run(self, line: str, wanted: str) -> str:
        os.write(self.fd, line.encode() + b"\n")
        return self.read_until(wanted)

    def tab(self, typed: str, wanted: str) -> str:
        """What stands on the line after a tab; the line is thrown away."""
        os.write(self.fd, typed.encode() + b"\t")
        seen = self.read_until(wanted)
        os.write(self.fd, b"\x15")
        return seen

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def zsh(tmp_path):
    shell = Zsh(tmp_path)
    yield shell
    shell.close()


@pytest.mark.parametrize("typed, wanted", [
    ("msprobe insp", "inspect "),
    ("msprobe comple", "completion "),
    ("msprobe -f pyt", "pytorch "),
    ("msprobe compare --fuz", "--fuzzy_match "),
    ("msprobe compare --match loo", "loose "),
    ("msprobe graph --format v", "vis "),
    ("msprobe compare a_d", "a_dump/"),
    ("msprobe completion ba", "bash "),
])
def test_tab(zsh, typed, wanted):
    zsh.tab(typed, re.escape(wanted))


def test_options_show_their_help(zsh):
    zsh.tab("msprobe compare --", r"(?s)--allow.*known skips.*--junit")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_as_json(shell):
    plain, packed = (subprocess.run([program(), "completion", shell, *more], text=True,
                                    capture_output=True, check=True).stdout
                     for more in ([], ["--json"]))
    assert schema_problems(packed, "completion") == []
    assert json.loads(packed) == {"shell": shell, "script": plain}
