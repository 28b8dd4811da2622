"""Writes a benchmark's table into its section of docs/benchmarks.md."""

import datetime
import json
import os
import pathlib
import platform
import re
import sys

RAW = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks.json"
DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
HEADER = """# Benchmarks

Each section is rewritten by its command. Times are medians; memory is the peak of anonymous memory
(RssAnon) of the whole process tree; programs that are compared ran in turn in one run. What each run gave
stands in [benchmarks.json](benchmarks.json), under the name of its section. [bench/README.md](../bench/README.md)
says where the dumps come from.
"""
_left_out: list[str] = []
_runs: dict[str, list] = {}


def keep(name: str, run: object) -> None:
    """Remembers what one run gave, as JSON, for docs/benchmarks.json."""
    _runs.setdefault(name, []).append(run)


def leave_out(what: str) -> None:
    """Remembers what could not be measured here and why; the section says so."""
    if what not in _left_out:
        print(f"left out: {what}", file=sys.stderr)
        _left_out.append(what)


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


def short(value: object) -> object:
    """The same with numbers of five digits."""
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [short(item) for item in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def write_raw(name: str, section: dict) -> None:
    raw = json.loads(RAW.read_text()) if RAW.exists() else {}
    raw[name] = section
    parts = []
    for key, part in raw.items():
        head = json.dumps({"date": part["date"], "machine": part["machine"]})[:-1]
        runs = ",\n".join(f"  {json.dumps(run, ensure_ascii=False)}: {json.dumps(short(values))}"
                          for run, values in part["runs"].items())
        parts.append(f' {json.dumps(key)}: {head}, "runs": {{\n{runs}}}}}')
    RAW.write_text("{\n" + ",\n".join(parts) + "}\n")


def write_section(name: str, title: str, body: str) -> None:
    """Replaces (or appends) the section between the markers of `name`, and prints it. What was kept of the runs goes
    into docs/benchmarks.json."""
    if _left_out:
        body += "\n\nLeft out here:\n\n" + "\n".join(f"* {what}" for what in _left_out)
    old = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    text = HEADER + "\n" + old[old.find("<!-- bench:"):] if "<!-- bench:" in old else HEADER
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
    write_raw(name, {"date": date, "machine": machine(), "runs": _runs})
    print(section)


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def megabytes(value: float) -> str:
    return f"{value / 2**20:.0f} MB"
