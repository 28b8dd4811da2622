"""msprobe.compare and msprobe.load_dump: the core's answers as plain objects."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import msprobe
import pytest

CASES = Path(__file__).resolve().parents[1] / "golden/cases"
DIVERGED = CASES / "table/diverged/input"
RANKS = CASES / "table/ranks/input"
HOSTILE = CASES / "table/hostile_names/input"
RELU = "Functional.relu.0.forward"


def test_compare_names_the_culprit():
    found = msprobe.compare(DIVERGED / "npu", DIVERGED / "bench")
    assert found.verdict == "diverged"
    assert [node.name for node in found.culprits] == [RELU]
    culprit = found.culprits[0]
    assert culprit.error_in == 0 and culprit.error_out == 1
    assert culprit.source == "/home/user/model.py:22  x = F.relu(x)"
    assert culprit.stack[0].startswith("File /home/user/model.py")
    assert found.victims[0].culprit == RELU
    assert found.counts["culprits"] == 1 and not found.not_compared
    assert repr(found) == f"Comparison(diverged, culprit {RELU})"


def test_compare_says_what_the_command_says():
    cli = os.environ.get("MSPROBE_CLI", "msprobe")
    done = subprocess.run([cli, "compare", "npu", "bench", "--json"], cwd=DIVERGED,
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    found = msprobe.compare(DIVERGED / "npu", DIVERGED / "bench")
    assert found.verdict == report["verdict"] and found.counts == report["counts"]
    assert [node.name for node in found.victims] == [
        node["name"] for node in report["victims"]["nodes"]]


@pytest.mark.parametrize("way", ["level L1", "extra_info false"])
def test_dumps_without_a_hierarchy(way, tmp_path):
    for side in ("npu", "bench"):
        shutil.copytree(DIVERGED / side, tmp_path / side)
        if way == "level L1":
            dump = json.loads((tmp_path / side / "dump.json").read_text())
            (tmp_path / side / "dump.json").write_text(json.dumps({**dump, "level": "L1"}))
            (tmp_path / side / "construct.json").write_text("{}")
        else:
            (tmp_path / side / "construct.json").unlink()
            (tmp_path / side / "stack.json").unlink()
    found = msprobe.compare(tmp_path / "npu", tmp_path / "bench")
    assert found.verdict == "diverged"
    assert [node.name for node in found.culprits] == [RELU]


def test_rows_come_in_execution_order():
    table = msprobe.compare(DIVERGED / "npu", DIVERGED / "bench").table
    assert len(table) == 12
    first = next(iter(table))
    assert first["target_name"] == "Module.net.Net.forward.0.input.0"
    assert first["result"] == "pass" and first["max_diff"] == 0.0
    assert table.column("result").count("error") == 1
    assert set(table.to_dict()) == set(table.columns)


def test_same_and_options():
    assert msprobe.compare(DIVERGED / "bench", DIVERGED / "bench").verdict == "same"
    fuzzy = CASES / "table/fuzzy/input"
    assert msprobe.compare(fuzzy / "npu", fuzzy / "bench").not_compared
    assert not msprobe.compare(fuzzy / "npu", fuzzy / "bench", fuzzy_match=True).not_compared
    mapped = CASES / "table/layer_mapping/input"
    assert not msprobe.compare(mapped / "npu", mapped / "bench",
                               layer_mapping=mapped / "map.yaml").not_compared


def test_automatic_matching_from_the_package():
    case = CASES / "match/auto_wrappers/input"
    strict = msprobe.compare(case / "npu", case / "bench")
    paired = msprobe.compare(case / "npu", case / "bench", match="auto")
    assert strict.not_compared and strict.counts["target"]["matched"] < paired.counts["target"]["matched"]
    cli = Path(sys.executable).parent / "msprobe"  # the command of the same package
    done = subprocess.run([cli, "compare", "npu", "bench", "--match", "auto", "--json"], cwd=case,
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert paired.counts == report["counts"] and paired.verdict == report["verdict"]


def test_victims_know_the_rank_of_their_culprit():
    case = CASES / "locate/other_rank/input"
    found = msprobe.compare(case / "npu", case / "bench")
    assert [(node.name, node.rank) for node in found.culprits] == [("Torch.add.0.forward", 1)]
    brought = [node for node in found.victims if node.role == "collective"]
    assert [(node.rank, node.culprit, node.culprit_rank) for node in brought] == [
        (0, "Torch.add.0.forward", 1)]
    rows = found.query("select distinct culprit_rank from diverged where rank = 0").rows
    assert rows == [(1,)]


def test_a_step_that_differs_comes_before_the_culprits_of_later_ones():
    case = CASES / "locate/culprit_of_later_step/input"
    found = msprobe.compare(case / "npu", case / "bench")
    first = found.first_difference
    assert (first.step, first.name, first.role) == (1, "Module.net.0.Linear.forward.0", "undecidable")
    assert [(node.step, node.consequence) for node in found.culprits] == [(2, True), (2, True)]
    assert repr(found) == f"Comparison(diverged, first difference {first.name})"
    assert msprobe.compare(DIVERGED / "npu", DIVERGED / "bench").first_difference is None


def test_load_dump():
    dump = msprobe.load_dump(DIVERGED / "npu")
    assert len(dump) == 6
    entry = dump.entry(RELU)
    assert entry.kind == "api" and entry.direction == "forward"
    assert entry.parent == "Module.net.Net.forward.0"
    made = entry.tensors[1]
    assert (made.name, made.section, made.dtype) == ("output.0", "output", "torch.float32")
    assert made.shape == (2, 3) and made.max == 6.0 and made.requires_grad is False
    with pytest.raises(KeyError):
        dump.entry("Functional.relu.1.forward")
    assert dump.query("select count(*) from tensors").rows == [(12,)]


def test_ranks_and_steps():
    dump = msprobe.load_dump(RANKS / "npu")
    assert {(entry.step, entry.rank) for entry in dump} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert dump.entry(RELU, step=1, rank=1).tensors[1].max == 6.0
    found = msprobe.compare(RANKS / "npu", RANKS / "bench")
    assert [(node.step, node.rank) for node in found.culprits] == [(0, 1), (1, 1)]


def test_errors_are_pythons_own():
    with pytest.raises(FileNotFoundError, match="does not exist"):
        msprobe.load_dump("no/such/dump")
    a_file = "a dump is a directory, this is a file; .*dump.json$"
    for wrong in ((DIVERGED / "npu/dump.json", DIVERGED / "bench"), (DIVERGED / "npu", DIVERGED / "bench/dump.json")):
        with pytest.raises(ValueError, match=a_file):
            msprobe.compare(*wrong)
    with pytest.raises(ValueError, match=a_file):
        msprobe.load_dump(DIVERGED / "npu/dump.json")
    with pytest.raises(ValueError, match="match is 'sloppy'.*give 'strict', 'loose' or 'auto'"):
        msprobe.compare(DIVERGED / "npu", DIVERGED / "bench", match="sloppy")
    with pytest.raises(ValueError, match="leave out fuzzy_match and layer_mapping"):
        msprobe.compare(DIVERGED / "npu", DIVERGED / "bench", match="auto", fuzzy_match=True)
    with pytest.raises(ValueError, match="not authorized"):
        msprobe.load_dump(DIVERGED / "npu").query("delete from tensors")
    with pytest.raises(ValueError, match="too long.* give it more time"):
        msprobe.load_dump(DIVERGED / "npu").query(
            "with recursive r(i) as (select 1 union all select i + 1 from r) "
            "select count(*) from r", seconds=0.1)


@pytest.mark.parametrize("threads", [-1, 4097, 2**70, 1.5, "2", None])
def test_threads_that_cannot_be_are_named(threads):
    with pytest.raises(ValueError) as error:
        msprobe.compare(DIVERGED / "npu", DIVERGED / "bench", threads=threads)
    assert str(error.value) == (f"threads is {threads!r}; give a number of threads from 1 to 4096, "
                                "or 0 for all cores")
    assert msprobe.compare(DIVERGED / "npu", DIVERGED / "bench", threads=2).verdict == "diverged"


def cut_off(dump_json):
    text = dump_json.read_bytes()
    dump_json.write_bytes(text[:len(text) * 2 // 3])


def test_a_dump_that_was_cut_off_is_told(tmp_path):
    shutil.copytree(DIVERGED / "npu", tmp_path / "npu")
    cut_off(tmp_path / "npu/dump.json")
    with pytest.warns(UserWarning) as told:
        dump = msprobe.load_dump(tmp_path / "npu")
    assert 0 < len(dump) < 6
    assert len(told) == 1 and told[0].filename == __file__
    text = str(told[0].message)
    assert text.startswith("dump.json is cut off: it was read up to the last whole record")
    assert text.endswith(f"`msprobe inspect --repair` makes the file whole: {tmp_path}/npu/dump.json")
    found = msprobe.compare(tmp_path / "npu", DIVERGED / "bench")
    assert any("cut off" in node.reason for node in found.not_compared)


def test_each_kind_of_damage_is_told_once(tmp_path):
    shutil.copytree(RANKS / "npu", tmp_path / "npu")
    files = sorted((tmp_path / "npu").glob("step*/rank*/dump.json"))
    for file in files[:3]:
        cut_off(file)
    text = files[3].read_text()
    files[3].write_text(text.replace('"data": {', f'"data": {{"{RELU}": {{}},', 1))
    with pytest.warns(UserWarning) as told:
        msprobe.load_dump(tmp_path / "npu")
    first, second = [str(one.message) for one in told]
    assert first.endswith(f"{files[0]} (and 2 more)")
    assert f"dump.json records {RELU} more than once" in second and str(files[3]) in second


def test_whole_dumps_are_read_without_a_warning(tmp_path):
    shutil.copytree(DIVERGED / "npu", tmp_path / "npu")
    (tmp_path / "npu/construct.json").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for directory in (DIVERGED / "npu", RANKS / "npu", tmp_path / "npu"):
            assert len(msprobe.load_dump(directory)) > 0


def test_notebooks_show_escaped_names():
    for shown in (msprobe.compare(HOSTILE / "npu", HOSTILE / "bench"),
                  msprobe.load_dump(HOSTILE / "npu")):
        html = shown._repr_html_()
        assert "<table>" in html and "<script>" not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_exports(library):
    found = msprobe.compare(DIVERGED / "npu", DIVERGED / "bench")
    export = {"pandas": found.to_pandas, "polars": found.to_polars, "pyarrow": found.to_arrow}
    if importlib.util.find_spec(library) is None:
        with pytest.raises(ImportError, match=f"pip install {library}"):
            export[library]()
        return
    frame = export[library]()
    assert frame.shape == (12, len(found.table.columns))
    errors = [str(value) for value in frame["result"]].count("error")  # of pyarrow: scalars
    assert errors == 1
    numbers = [float(str(value)) for value in frame["max_diff"]]
    assert numbers == found.table.column("max_diff")
    # A column in which some rows have nothing.
    mixed = msprobe.load_dump(HOSTILE / "npu").query("select 1 as a union all select null")
    export = {"pandas": mixed.to_pandas, "polars": mixed.to_polars, "pyarrow": mixed.to_arrow}
    assert export[library]().shape == (2, 1)


def test_notebooks_show_long_tables_in_part():
    table = msprobe.load_dump(DIVERGED / "npu").query(
        "with recursive r(i) as (select 1 union all select i + 1 from r where i < 70) "
        "select i from r")
    html = table._repr_html_()
    assert html.count("<tr>") == 51 and "and 20 more rows" in html
    shown = msprobe.compare(DIVERGED / "npu", DIVERGED / "bench")._repr_html_()
    assert "verdict: <b>diverged</b>" in shown and RELU in shown


def test_importing_stays_light():
    code = ("import sys, msprobe; heavy = {'torch', 'numpy', 'pandas', 'polars', 'pyarrow', "
            "'mindspore', 'msprobe._compare', 'msprobe._core'}; print(heavy & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_package_brings_the_command():
    done = subprocess.run([Path(sys.executable).parent / "msprobe", "--help"],
                          capture_output=True, text=True, check=True)
    for command in ("graph", "compare", "query", "view", "inspect", "completion"):
        assert f"\n  {command} " in done.stdout
