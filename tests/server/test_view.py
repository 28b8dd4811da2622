"""`msprobe view` from outside: files, dumps, comparisons on the fly, matching, reports, restart."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import CLI, ROOT, Server, renamed


def only_file(server: Server) -> str:
    (entry,) = server.api("files")["files"]
    return str(entry["file"])


def test_ranks_of_one_run_are_one_file(server: Server) -> None:
    file = only_file(server)
    assert re.fullmatch(r"compare_step\*_rank\*_\d+\.vis", file)
    answer = server.open(file)
    assert [unit["rank"] for unit in answer["units"]] == [0, 1]
    assert answer["units"][1]["worst"] > answer["units"][0]["worst"] > 0
    rows = server.api(f"rows?file={file}&u=1&t=0&g=0")
    assert [row["t"]["label"] for row in rows["rows"]] == ["net"]


def test_dumps_are_built_and_compared_on_the_fly(dumps: Path) -> None:
    server = Server(dumps / "target", "--golden", dumps / "golden")
    try:
        file = only_file(server)
        answer = server.open(file)
        assert answer["type"] == "compare"
        assert answer["can_match"] is True
        assert len(answer["units"]) == 2
        found = server.api(f"search?file={file}&u=0&q=relu&side=t")["items"]
        node = server.api(f"node?file={file}&u=0&side=t&id={found[0]['id']}")
        assert node["partner"]["name"] == "Functional.relu.0.forward"
        assert {v["key"] for v in node["values"]} == {"input.0", "output.0"}
    finally:
        assert server.stop()[0] == 0


def unmatched_of(*arguments: str | Path) -> list[str]:
    """Names on the target side without a partner."""
    server = Server(*arguments)
    try:
        query = f"file={only_file(server)}&u=0"
        server.open(only_file(server))
        answer = server.api(f"list?{query}&by=unmatched&side=t")
        return [item["name"] for item in answer["items"]]
    finally:
        server.stop()


def test_on_the_fly_calls_are_paired_as_one_likes(dumps: Path, tmp_path: Path) -> None:
    target = dumps / "target" / "step0" / "rank0"
    later = renamed(dumps / "golden" / "step0" / "rank0", tmp_path / "later", "linear.0", "linear.1")
    pair = (target, "--golden", later)
    assert unmatched_of(*pair) == ["Functional.linear.0.forward"]
    assert unmatched_of(*pair, "-fm") == []

    other = renamed(
        dumps / "golden" / "step0" / "rank0", tmp_path / "other", "net.fc.Linear", "net.dense.Linear"
    )
    pair = (target, "--golden", other)
    assert "Module.net.fc.Linear.forward.0" in unmatched_of(*pair)
    mapping = tmp_path / "map.yaml"
    mapping.write_text("Net:\n  fc: dense\n")
    assert unmatched_of(*pair, "-lm", mapping) == []


def test_on_the_fly_one_says_what_is_rounding(dumps: Path, tmp_path: Path) -> None:
    pair = (dumps / "target", "--golden", dumps / "golden")
    tolerance = tmp_path / "tolerance.yaml"
    tolerance.write_text("rules:\n- {name: \"*\", bound: 100.0}\n")

    def culprits(*arguments: str | Path) -> int:
        server = Server(*arguments)
        try:
            return int(server.open(only_file(server))["units"][0]["culprits"])
        finally:
            server.stop()

    assert culprits(*pair) > 0
    assert culprits(*pair, "--tolerance", tolerance) == 0


def test_on_the_fly_a_third_run_judges() -> None:
    runs = ROOT / "tests" / "golden" / "cases" / "tolerance" / "reference" / "input"

    def first(target: str, *options: str | Path) -> tuple[int, str]:
        server = Server(runs / target, "--golden", runs / "bench", *options)
        try:
            file = only_file(server)
            culprits = server.open(file)["units"][0]["culprits"]
            found = server.api(f"list?file={file}&u=0&by=role&value=culprit&side=t")["items"]
            # Whoever is judged to diverge is an error, whatever it was before.
            assert [node["status"] for node in found] == ["error"] * culprits
            return culprits, found[0]["name"] if found else ""
        finally:
            server.stop()

    relu = (1, "Functional.relu.0.forward")
    assert first("near") == relu
    # Golden is as far from the reference as the target is from golden.
    assert first("near", "--reference", runs / "high") == (0, "")
    assert first("far", "--reference", runs / "high") == relu


def test_a_third_run_needs_two_others(dumps: Path) -> None:
    command = [CLI, "view", dumps / "target", "--reference", dumps / "golden"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "--reference is about two dumps" in done.stderr


def test_units_say_which_dumps_they_are_of(dumps: Path, tmp_path: Path) -> None:
    pair = [str(dumps / side) for side in ("target", "golden")]
    for form in ("vis", "db"):
        command = [CLI, "graph", *pair, "-o", tmp_path / form, "--format", form]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    for arguments in ((tmp_path / "vis",), (tmp_path / "db",), (pair[0], "--golden", pair[1])):
        server = Server(*arguments)
        try:
            units = server.open(only_file(server))["units"]
        finally:
            server.stop()
        assert units[1]["from"] == [str(Path(side) / "step0" / "rank1") for side in pair]


RANKS = ROOT / "tests" / "golden" / "cases" / "graph" / "single_ranks" / "input" / "npu"


def peers_of_a_collective(run: Path) -> list[tuple[str, int]]:
    server = Server(run)
    try:
        file = only_file(server)
        server.open(file)
        query = f"file={file}&u=0"
        (call,) = server.api(f"search?{query}&q=Distributed.all_reduce*forward&side=t")["items"]
        peers = server.api(f"node?{query}&side=t&id={call['id']}")["peers"]
        return [(peer["rank"], peer["u"]) for peer in peers]
    finally:
        assert server.stop()[0] == 0


def test_on_the_fly_a_collective_names_its_peers() -> None:
    assert peers_of_a_collective(RANKS) == [("1", 1)]


def test_a_rank_that_cannot_be_read_keeps_no_other_from_its_peers(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(RANKS, run)
    shutil.copytree(run / "rank1", run / "rank2")
    (run / "rank2" / "dump.json").write_text("{")
    assert peers_of_a_collective(run) == [("1", 1)]


def test_a_dump_that_is_cut_short_while_it_is_shown_is_an_error(dumps: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(dumps / "target" / "step0" / "rank0", dump)
    server = Server(dump)
    try:
        query = f"file={only_file(server)}&u=0"
        server.open(only_file(server))
        for name in ("dump.json", "stack.json", "construct.json"):
            with (dump / name).open("r+b") as file:
                file.truncate(0)
        status, _, answer = server.ask(f"/api/node?{query}&side=t&id=1")
        assert status in (200, 422), answer
        assert server.api("files")["files"]
    finally:
        assert server.stop()[0] == 0


def test_a_single_dump(dumps: Path) -> None:
    server = Server(dumps / "target" / "step0" / "rank0")
    try:
        answer = server.open(only_file(server))
        assert answer["type"] == "build"
        assert answer["units"][0]["nodes"] == [5, 0]
    finally:
        server.stop()


def test_the_same_page_after_a_restart(written: Path) -> None:
    first = Server(written)
    file = only_file(first)
    first.open(file)
    assert first.stop()[0] == 0
    second = Server(written, "--port", str(first.port))
    try:
        # Without 'open': a page goes on where it was.
        assert second.api(f"rows?file={file}&u=0&t=0&g=0")["total"] == 1
    finally:
        second.stop()


def test_a_port_in_use_is_an_error(server: Server, written: Path) -> None:
    command = [str(CLI), "view", str(written), "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "cannot listen" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("port", ["http", "65536", "-1", "80x"])
def test_what_is_no_port_is_refused(written: Path, port: str) -> None:
    command = [CLI, "view", written, f"--port={port}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    advice = "give a number from 0 (a free one) to 65535"
    assert done.stderr == f"[ERROR] --port {port} is no port\n  {advice}\n"


def test_the_browser_is_shown_the_address(written: Path, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    opener = tmp_path / "xdg-open"
    opener.write_text(
        f'#!/bin/sh\nls -l /proc/$$/fd >"{shown}.files"\n'
        f'printf "%s" "$*" >"{shown}.new" && mv "{shown}.new" "{shown}"\n'
    )
    opener.chmod(0o755)
    server = Server(written, "--open", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    try:
        for _ in range(600):
            if shown.exists():
                break
            time.sleep(0.05)
        assert shown.read_text() == server.url
        files = re.findall(r" (\d+) -> (\w+):", Path(f"{shown}.files").read_text())
        sockets = [number for number, kind in files if kind == "socket" and int(number) > 2]
        assert not sockets, "the browser would keep the port after the server's end"
    finally:
        assert server.stop()[0] == 0


def test_without_a_browser_the_page_is_served_all_the_same(written: Path, tmp_path: Path) -> None:
    server = Server(written, "--open", env={"PATH": str(tmp_path)})
    try:
        assert server.api("files")["files"]
    finally:
        assert server.stop()[0] == 0


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_an_address_that_others_reach_is_told(written: Path, host: str, warned: bool) -> None:
    command = [str(CLI), "view", str(written), "--host", host]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert ("without a password" in error) is warned


def test_nothing_to_view_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "x.txt"):
        (tmp_path / "x.txt").write_text("")
        command = [str(CLI), "view", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2, done.stderr


def test_matches_survive_a_restart(dumps: Path, tmp_path: Path) -> None:
    golden = renamed(
        dumps / "golden" / "step0" / "rank0", tmp_path / "golden", "net.fc.Linear", "net.dense.Linear"
    )
    output = tmp_path / "out"
    target = dumps / "target" / "step0" / "rank0"
    graph = [str(CLI), "graph", "-tp", str(target), "-gp", str(golden)]
    subprocess.run([*graph, "-o", str(output)], check=True, capture_output=True)
    server = Server(output)
    file = only_file(server)
    unit = f"file={file}&u=0"
    ids = {s: server.api(f"list?{unit}&by=unmatched&side={s}")["items"][0]["id"] for s in "tg"}
    body = json.dumps({"t": ids["t"], "g": ids["g"], "children": True})
    origin = server.url.rstrip("/")
    status, _, answer = server.ask(f"/api/matches?{unit}", "POST", body, Origin=origin)
    assert status == 200, answer
    made = json.loads(answer)["changed"]
    pairs = server.api(f"matches?{unit}")
    second = server.api(f"matches?{unit}&offset=1&limit=1")
    assert second["total"] == pairs["total"] == len(pairs["pairs"]) > 1
    assert second["pairs"] == pairs["pairs"][1:2]
    assert made[0]["index"] is not None
    yaml = server.ask(f"/api/matches.yaml?{unit}")[2].decode()
    assert '"net.fc": "net.dense"' in yaml
    server.stop()
    again = Server(output)
    assert again.api(f"list?{unit}&by=unmatched&side=t")["total"] == 0
    again.stop()

    # The same pairs from the command line, by the exported mapping.
    (tmp_path / "map.yaml").write_text(yaml)
    mapped = tmp_path / "mapped"
    subprocess.run(
        [*graph, "-lm", str(tmp_path / "map.yaml"), "-o", str(mapped)],
        check=True, capture_output=True,
    )  # fmt: skip
    check = Server(mapped)
    assert check.api(f"list?file={only_file(check)}&u=0&by=unmatched&side=t")["total"] == 0
    check.stop()
