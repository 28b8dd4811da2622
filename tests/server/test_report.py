"""`msprobe view --export`: one page with the data inside."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from conftest import CLI, renamed


def test_report_holds_all_and_loads_nothing(written: Path, tmp_path: Path) -> None:
    source = sorted(written.glob("*.vis"))[0]
    report = tmp_path / "report.html"
    command = [str(CLI), "view", str(source), "--export", str(report)]
    subprocess.run(command, check=True, capture_output=True)
    page = report.read_text()
    data = re.search(r'<script type="application/json" id="msprobe-data">(.*?)</script>', page, re.S)
    assert data is not None
    content = json.loads(data[1])
    assert content["version"] == 1
    assert content["open"]["can_match"] is False
    assert [node["id"] for node in content["units"][0]["target"]][0] == 0
    assert len(content["units"][0]["details"]["t"]) == 5
    assert not re.search(r'(?:src|href)="(?!data:)[^"]', page), "a report is one file"


def test_report_of_a_part_holds_that_part(written: Path, tmp_path: Path) -> None:
    source = sorted(written.glob("*.vis"))[0]
    report = tmp_path / "report.html"
    command = [str(CLI), "view", str(source), "--export", str(report), "--subtree"]
    name = "Module.net.fc.Linear.forward.0"
    subprocess.run([*command, name], check=True, capture_output=True)
    data = re.search(r'id="msprobe-data">(.*?)</script>', report.read_text(), re.S)
    assert data is not None
    content = json.loads(data[1])
    names = ["DefaultModel", "Module.net.Net.forward.0", name, "Functional.linear.0.forward"]
    for side in ("target", "golden"):
        assert [node["name"] for node in content["units"][0][side]] == names
        assert [node["parent"] for node in content["units"][0][side]] == [-1, 0, 1, 2]
    call = content["units"][0]["details"]["t"]["3"]
    assert call["node"]["name"] == names[3]
    assert call["partner"]["name"] == names[3]
    assert sorted(value["key"] for value in call["values"]) == ["input.0", "output.0"]
    assert content["open"]["units"][0]["nodes"] == [4, 4]
    assert name in content["open"]["notes"][0]

    done = subprocess.run([*command, "no.such"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no node has this name" in done.stderr


def test_report_of_a_part_that_only_some_ranks_have(dumps: Path, tmp_path: Path) -> None:
    for side in ("target", "golden"):
        for rank in (0, 1):
            where = Path(side) / "step0" / f"rank{rank}"
            renamed(dumps / where, tmp_path / where, "net.fc", f"net.stage{rank}")
    report = tmp_path / "report.html"
    command = [str(CLI), "view", str(tmp_path / "target"), "--golden", str(tmp_path / "golden"),
               "--export", str(report), "--subtree"]  # fmt: skip
    name = "Module.net.stage1.Linear.forward.0"
    subprocess.run([*command, name], check=True, capture_output=True)
    data = re.search(r'id="msprobe-data">(.*?)</script>', report.read_text(), re.S)
    assert data is not None
    content = json.loads(data[1])
    assert [unit["rank"] for unit in content["open"]["units"]] == [1]
    assert name in [node["name"] for node in content["units"][0]["target"]]
    assert any("1 of 2 steps and ranks have this node" in note for note in content["open"]["notes"])
    done = subprocess.run([*command, "no.such"], capture_output=True, text=True, check=False)
    assert "no node has this name" in done.stderr


def test_report_of_one_graph_alone(written: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    several = tmp_path / "several"
    several.mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("a.vis", "b.vis"):
        shutil.copy(sorted(written.glob("*.vis"))[0], several / name)
    for path, fact in (
        (several, "there are 2 graphs here\n  name the one to export as PATH"),
        (tmp_path / "empty", "give a .vis, a .vis.db or a dump"),
    ):
        command = [CLI, "view", path, "--export", report]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2
        assert fact in done.stderr
        assert not report.exists()


def test_names_in_a_report_are_no_markup(dumps: Path, tmp_path: Path) -> None:
    name = "Functional.</script><script>alert(1)</script><!--.0.forward"
    dump = renamed(
        dumps / "target" / "step0" / "rank0", tmp_path / "dump", "Functional.relu.0.forward", name
    )
    report = tmp_path / "report.html"
    command = [CLI, "view", dump, "--export", report]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    page = report.read_text()
    assert "<script>alert" not in page
    assert page.count("</script>") == 2, "the data and the program"
    data = re.search(r'<script type="application/json" id="msprobe-data">(.*?)</script>', page, re.S)
    assert data is not None
    content = json.loads(data[1])
    assert name in [node["name"] for node in content["units"][0]["target"]]
