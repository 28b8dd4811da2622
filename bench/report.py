"""Writes a benchmark's table into its section of docs/benchmarks.md."""

import datetime
import os
import pathlib
import platform
import re

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
HEADER = """# Benchmarks

Each section is rewritten by its command. Times are medians; memory is the peak of anonymous memory
(RssAnon) of the whole process tree; programs that are compared ran in turn in one run.
"""


def machine() -> str:
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, Linux {platform.release().split('-')[0]}"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write_section(name: str, title: str, body: str) -> None:
    """Replaces (or appends) the section between the markers of `name`, and prints it."""
    text = DOCUMENT.read_text() if DOCUMENT.exists() else HEADER
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    date = datetime.date.today().isoformat()
    section = f"{begin}\n## {title}\n\n`./dev bench {name}`, {date}, {machine()}\n\n{body}\n{end}"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _: section, text)
    else:
        text = text.rstrip() + "\n\n" + section + "\n"
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(text)
    print(section)


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def megabytes(value: float) -> str:
    return f"{value / 2**20:.0f} MB"
