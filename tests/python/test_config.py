"""config.json: what is allowed, and what is said when something is not."""

import json

import pytest

from msprobe.config import load_config
from msprobe.errors import MsprobeError


def _load(tmp_path, data, **arguments):
    path = tmp_path / "config.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return load_config(str(path), **arguments)


def test_defaults_without_a_file(capfd):
    config = load_config(None)
    assert (config.task, config.level, config.dump_path) == ("statistics", "L1", "./msprobe_dump")
    assert config.rank == config.step == config.scope == config.listed == []
    assert config.takes("forward") and config.takes("output")


def test_the_seeds_example(tmp_path):
    config = _load(tmp_path, {
        "task": "statistics", "dump_path": "./output", "rank": [], "step": [0, 1], "level": "L0",
        "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"},
    })
    assert (config.level, config.step, config.dump_path) == ("L0", [0, 1], "./output")


def test_arguments_go_before_the_file(tmp_path):
    config = _load(tmp_path, {"task": "statistics", "dump_path": "a", "level": "L0", "step": [1]},
                   task="tensor", level="mix", step=[3], dump_path="b")
    assert (config.task, config.level, config.step, config.dump_path) == ("tensor", "mix", [3], "b")


@pytest.mark.parametrize("level,names,allowed", [
    ("L1", ["Module.a.Linear.forward.0", "Module.b.Linear.forward.0"], "APIs"),
    ("L0", ["Torch.add.0.forward", "Torch.mul.0.forward"], "modules"),
])
def test_a_scope_of_names_that_the_level_has_not(level, names, allowed, tmp_path):
    data = {"dump_path": "a", "level": level, "statistics": {"scope": names}}
    with pytest.raises(MsprobeError, match=f"allowed at level {level} are names of {allowed}"):
        _load(tmp_path, data)
    assert _load(tmp_path, data, level="mix").scope == names


def test_lists_of_numbers(tmp_path):
    config = _load(tmp_path, {"dump_path": "a", "step": [7, "3", "4-6"], "rank": ["0-1"]})
    assert config.step == [3, 4, 5, 6, 7] and config.rank == [0, 1]


@pytest.mark.parametrize("data,words", [
    ({"task": "statistic"}, ["task", '"statistic"', "tensor", 'did you mean "statistics"']),
    ({"level": "l1"}, ["level", '"l1"', "mix", 'did you mean "L1"']),
    ({"step": 3}, ["step is 3", "list"]),
    ({"step": [-1]}, ["step", "[-1]"]),
    ({"step": ["5-2"]}, ["step", "5-2"]),
    ({"rank": [True]}, ["rank"]),
    ({"rank": 0}, ["rank is 0", "list"]),
    ({"step": ""}, ['step is ""', "list"]),
    ({"step": [1 << 63]}, ["step", "9223372036854775808"]),
    ({"rank": ["x"]}, ["rank"]),
    ({"async_dump": "yes"}, ["async_dump", '"yes"', "true and false"]),
    ({"risk_level": "HIGH"}, ["risk_level", "ALL, CORE, FOCUS"]),
    ({"dump_path": 3}, ["dump_path is 3"]),
    ({"dump_path": "a\0b"}, ["dump_path", "zero byte"]),
    ({"statistics": None}, ["statistics is null", "object"]),
    ({"statistics": []}, ["statistics is []", "object"]),
    ({"statistics": {"scope": ["a"]}}, ["scope", "first and the last"]),
    ({"statistics": {"list": "relu"}}, ["list", "list of texts"]),
    ({"statistics": {"data_mode": ["forwards"]}}, ["data_mode", 'did you mean "forward"']),
    ({"statistics": {"summary_mode": "MD5"}}, ["summary_mode", 'did you mean "md5"']),
    ({"statistics": {"file_format": "bin"}}, ["file_format", "npy, pt"]),
    ({"task": "tensor", "tensor": {"bench_path": "/nowhere"}}, ["bench_path", "/nowhere"]),
    ({"task": "tensor", "tensor": {"diff_nums": -2}}, ["diff_nums", "-2"]),
    ({"task": "tensor", "tensor": {"max_bytes": 1 << 63}}, ["max_bytes", "9223372036854775808"]),
    ({"task": "tensor", "tensor": {"bench_path": []}}, ["bench_path is []", "a path"]),
    ({"rank": ["\u0661"]}, ["rank", "ranges"]),
    ({"statistics": {"data_mode": ""}}, ['data_mode is ""', "list of texts"]),
    ([1], ["JSON object"]),
    ("{", ["not valid JSON"]),
    ("[" * 100_000, ["not valid JSON"]),
])
def test_errors_say_what_is_wrong_and_what_is_allowed(data, words, tmp_path):
    with pytest.raises(MsprobeError) as error:
        _load(tmp_path, {"dump_path": "a", **data} if isinstance(data, dict) else data)
    text = str(error.value)
    assert all(word in text for word in words), text
    assert "\n" not in text


@pytest.mark.parametrize("path", [True, 5, b"c.json", ["c.json"]])
def test_a_path_that_is_none(path):
    with pytest.raises(MsprobeError, match="config_path is .*, allowed is a path"):
        load_config(path)


def test_a_mark_at_the_beginning_of_the_file(tmp_path):
    assert _load(tmp_path, '\ufeff{"dump_path": "a", "level": "L0"}').level == "L0"


@pytest.mark.parametrize("surplus", [0, 1])
def test_the_largest_file(surplus, tmp_path):
    text = '{"dump_path": "a"}'.ljust((16 << 20) + surplus)
    if surplus == 0:
        assert _load(tmp_path, text).dump_path == "a"
        return
    with pytest.raises(MsprobeError, match=r"^the configuration has more than 16 MiB, .*: .*config\.json$"):
        _load(tmp_path, text)


def test_a_file_without_end():
    with pytest.raises(MsprobeError, match="more than 16 MiB, .*: /dev/zero$"):
        load_config("/dev/zero")


def test_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _load(tmp_path, {"dump_path": "~/dump"}).dump_path == f"{tmp_path}/dump"


def test_a_file_that_is_not_there():
    with pytest.raises(MsprobeError, match=r"cannot be read .*, choose another one: nowhere\.json$"):
        load_config("nowhere.json")


@pytest.mark.parametrize("data,words", [
    ({"levle": "L0"}, ['"levle"', 'did you mean "level"']),
    ({"summary_mode": "md5"}, ['"summary_mode"', 'move it into "statistics"']),
    ({"statistics": {"level": "L0"}}, ['"level" in statistics', "move it out"]),
    ({"statistics": {"lists": []}}, ['"lists"', 'did you mean "list"']),
    ({"task": "tensor", "tensor": {"tensor_list": []}}, ['"tensor_list" is not used with task tensor']),
])
def test_fault_18_unknown_keys_are_warned_of(data, words, tmp_path, capfd):
    _load(tmp_path, {"dump_path": "a", **data})
    text = capfd.readouterr().err
    assert all(word in text for word in words), text


@pytest.mark.parametrize("key", ["levle", "summary_mode"])
def test_the_file_stands_last(key, tmp_path, capfd):
    _load(tmp_path, {"dump_path": "a", key: "md5"})
    assert capfd.readouterr().err.endswith(f": {tmp_path}/config.json\n")


@pytest.mark.parametrize("text, key", [
    ('{"level": "L0", "level": "L1"}', "level"),
    ('{"tensor": {"list": [], "list": ["a"]}}', "list"),
])
def test_a_key_that_is_there_twice(text, key, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(MsprobeError, match=f'the key "{key}" is there twice.*config.json'):
        load_config(str(path))


@pytest.mark.parametrize("place, message", [
    ("file", "a file stands where a directory is needed"),
    ("file/below", "a file stands where a directory is needed"),
    ("/proc/msprobe/dump", "dump_path cannot be written"),
])
def test_a_path_that_cannot_be_written_is_refused_before_training(place, message, debugger, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MsprobeError, match=message):
        debugger(top={"dump_path": str(tmp_path / place)})


def test_looking_at_the_path_leaves_nothing(debugger, tmp_path):
    before = sorted(tmp_path.iterdir())
    debugger(top={"dump_path": str(tmp_path / "a" / "b")})
    assert [path.name for path in sorted(tmp_path.iterdir()) if path not in before] == ["config.json"]
