"""The packages we measure ourselves against, each in a virtual environment of its own.

The framework comes from our own environment by a .pth file, so that both sides run on the same
build of it.
"""

import os
import pathlib
import subprocess
import sys

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = {
    "1.2.1": ["mindstudio-probe==1.2.1", "service_identity==26.1.0", "setuptools==66.1.1"],
    "26.2.0": ["mindstudio-probe==26.2.0"],
    "26.2.0-mindspore": ["mindstudio-probe==26.2.0", "numpy==1.26.4"],
}


def available(*versions: str) -> tuple[str, ...]:
    """Those that are here or can be installed; of the others the section says that they were left out."""
    found = []
    for version in versions:
        try:
            environment(version)
            found.append(version)
        except (OSError, subprocess.CalledProcessError, StopIteration) as error:
            report.leave_out(f"mindstudio-probe {version}: it cannot be installed ({type(error).__name__})")
    return tuple(found)


def environment(version: str) -> pathlib.Path:
    """Directory of the venv with the peer of that version; made on first use.

    MSPROBE_PEER_<version with _> names an existing one, e.g. MSPROBE_PEER_26_2_0.
    """
    given = os.environ.get("MSPROBE_PEER_" + version.replace(".", "_").replace("-", "_").upper())
    if given:
        return pathlib.Path(given)
    venv = ROOT / "build" / "peers" / version
    if not (venv / "bin" / "msprobe").exists():
        print(f"installing mindstudio-probe {version} into {venv.relative_to(ROOT)}", file=sys.stderr)
        subprocess.run(["/usr/bin/python3", "-m", "venv", str(venv)], check=True)
        subprocess.run([str(venv / "bin" / "pip"), "install", "-q", *REQUIREMENTS[version]], check=True)
    site = next((venv / "lib").glob("python3*/site-packages"))
    ours = ROOT / (".venv-mindspore" if version.endswith("-mindspore") else ".venv")
    (site / "framework_of_our_environment.pth").write_text(
        str(next((ours / "lib").glob("python3*/site-packages"))) + "\n")
    return venv


def graph_command(version: str, target: str, golden: str | None, output: str, scratch: str) -> list[str]:
    """The command line by which that version builds one graph or compares two."""
    program = str(environment(version) / "bin" / "msprobe")
    if version == "1.2.1":
        config = pathlib.Path(scratch) / "compare.json"
        both = f'"bench_path": "{golden}", ' if golden else ""
        config.write_text(f'{{"npu_path": "{target}", {both}"is_print_compare_log": false}}')
        return [program, "-f", "pytorch", "graph", "-i", str(config), "-o", output]
    return [program, "graph_visualize", "-tp", target, *(["-gp", golden] if golden else []), "-o", output]
