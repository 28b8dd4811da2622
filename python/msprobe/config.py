"""config.json: read, checked, with the constructor's arguments on top."""

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from msprobe.errors import MsprobeError
from msprobe.notices import did_you_mean, warn
from msprobe.utf8_text import writable

TASKS = ("statistics", "tensor", "structure")
LEVELS = ("L0", "L1", "mix", "debug")
DATA_MODES = ("all", "forward", "backward", "input", "output")
SUMMARY_MODES = ("statistics", "md5", "xor")
FILE_FORMATS = ("npy", "pt")
RISK_LEVELS = ("ALL", "CORE", "FOCUS")
MAX_BYTES = 16 << 20  # of the file
TOP_KEYS = (
    "task", "dump_path", "rank", "step", "level", "async_dump", "dump_enable", "extra_info",
    "overwrite", "precision", "risk_level",
)
SECTION_KEYS = {
    "scope": ("statistics", "tensor", "structure"),
    "list": ("statistics", "tensor", "structure"),
    "data_mode": ("statistics", "tensor", "structure"),
    "summary_mode": ("statistics", "tensor"),
    "tensor_list": ("statistics",),
    "file_format": ("statistics", "tensor"),
    "bench_path": ("tensor",),
    "diff_nums": ("tensor",),
    "max_bytes": ("statistics", "tensor"),
}


@dataclass
class Config:
    task: str = "statistics"
    dump_path: str = "./msprobe_dump"
    rank: List[int] = field(default_factory=list)
    step: List[int] = field(default_factory=list)
    level: str = "L1"
    async_dump: bool = False
    dump_enable: Optional[bool] = None
    extra_info: bool = True
    overwrite: bool = False
    risk_level: str = "ALL"
    scope: List[str] = field(default_factory=list)
    listed: List[str] = field(default_factory=list)
    tensor_list: List[str] = field(default_factory=list)
    data_mode: List[str] = field(default_factory=lambda: ["all"])
    summary_mode: str = "statistics"
    file_format: Optional[str] = None
    bench_path: Optional[str] = None
    diff_nums: int = 1
    max_bytes: Optional[int] = None
    given: Dict[str, Any] = field(default_factory=dict)  # where these come from

    @property
    def takes_modules(self) -> bool:
        return self.level in ("L0", "mix")

    def takes(self, word: str) -> bool:
        """Whether data_mode takes "forward", "backward", "input" or "output"."""
        pair = ("forward", "backward") if word in ("forward", "backward") else ("input", "output")
        named = [w for w in self.data_mode if w in pair]
        return "all" in self.data_mode or not named or word in named


def engine_options(config: Config) -> Dict[str, Any]:
    """What `_core.configure` is given."""
    level = config.level
    options: Dict[str, Any] = {
        "modules": config.takes_modules,
        "apis": level in ("L1", "mix"),
        "stacks": config.extra_info and level != "debug",
        "construct": config.extra_info and config.takes_modules,
        "save_tensors": config.task == "tensor",
        "structure_only": config.task == "structure",
        "defers": config.async_dump,
        "summary_mode": config.summary_mode,
        "scope": list(map(writable, config.scope)),
        "list": list(map(writable, config.listed)),
        "tensor_list": list(map(writable, config.tensor_list)),
    }
    for word in ("forward", "backward", "input", "output"):
        options[word] = config.takes(word)
    return options


def load_config(path: Optional[str], **arguments: Any) -> Config:
    if path is not None:
        path = as_path("config_path", path)
    return _check(read_settings(path, **arguments), f": {path}" if path else "")


def read_settings(path: Optional[str], **arguments: Any) -> Dict[str, Any]:
    """`arguments` that are not None go before what the file says."""
    data = {} if path is None else read_json(path)
    data.update((name, value) for name, value in arguments.items() if value is not None)
    return data


def changed_settings(first: Dict[str, Any], second: Dict[str, Any]) -> str:
    """What `first` says where `second` says something else; dump_enable is there to be changed."""
    return ", ".join(f"{key} {json.dumps(first[key], ensure_ascii=False, default=str)}" if key in first
                     else f"no {key}"
                     for key in {**first, **second}
                     if key != "dump_enable" and first.get(key) != second.get(key))


def read_json(path: str) -> Dict[str, Any]:
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise MsprobeError(f"config_path cannot be read ({error.strerror}), choose another one: {path}") from None
    if len(text) > MAX_BYTES:
        raise MsprobeError(f"the configuration has more than {MAX_BYTES >> 20} MiB, choose another file: {path}")
    try:
        data = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_once)  # editors may put a mark first
    except (ValueError, RecursionError) as error:
        raise MsprobeError(f"the configuration is not valid JSON ({error}), correct the file: {path}") from None
    if not isinstance(data, dict):
        raise MsprobeError(f"the configuration is not a JSON object, put its keys between {{ and }}: {path}")
    return data


def _once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """An object of JSON. Of a key that is there twice nobody knows which one was meant."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{twice}" is there twice')
    return data


def _one_of(key: str, value: Any, words: Any) -> str:
    if not isinstance(value, str) or value not in words:
        raise MsprobeError(
            f"{key} is {json.dumps(value, default=str)}, allowed are {', '.join(words)}"
            f"{did_you_mean(value, words)}"
        )
    return value


def boolean(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise MsprobeError(f"{key} is {json.dumps(value, default=str)}, allowed are true and false")
    return value


def is_number(value: Any) -> bool:
    """A whole number from 0 on that the engine can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


class Switch:
    """dump_enable in the file at `path`, which is read again whenever a step begins."""

    def __init__(self, path: str):
        self._path = path
        self.was: List[str] = []  # what it was where it was not on

    def is_on(self) -> bool:
        try:
            data = read_json(self._path)
            if boolean("dump_enable", data.get("dump_enable", False)):
                return True
            was = "false" if "dump_enable" in data else "missing"
        except MsprobeError as error:
            warn(f"the switch dump_enable cannot be read, nothing is collected: {error}", kind="switch")
            was = "unreadable"
        if was not in self.was:
            self.was.append(was)
        return False


def _numbers(key: str, value: Any) -> List[int]:
    """[0, "3", "4-6"] → [0, 3, 4, 5, 6]"""
    wrong = MsprobeError(
        f"{key} is {json.dumps(value, default=str)}, allowed is a list of numbers not below 0, "
        'texts like "3", and ranges like "4-6"'
    )
    if not isinstance(value, (list, tuple)):
        raise wrong
    numbers: List[int] = []
    for item in value:
        if is_number(item):
            numbers.append(item)
            continue
        text = item if isinstance(item, str) and item.isascii() else ""
        first, dash, last = text.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
            raise wrong
        end = int(last) if dash else int(first)
        if end < int(first) or end - int(first) > 10_000_000 or not is_number(end):
            raise wrong
        numbers.extend(range(int(first), end + 1))
    return sorted(set(numbers))


def _texts(key: str, value: Any) -> List[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) and v for v in value):
        raise MsprobeError(
            f"{key} is {json.dumps(value, default=str)}, allowed is a list of texts that are not empty"
        )
    return list(value)


def _whole(key: str, value: Any, lowest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value < 1 << 63:
        raise MsprobeError(
            f"{key} is {json.dumps(value, default=str)}, allowed are whole numbers from {lowest} on"
        )
    return value


def as_path(key: str, value: Any) -> str:
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str):
        raise MsprobeError(f"{key} is {json.dumps(value, default=str)}, allowed is a path")
    if "\0" in path:
        raise MsprobeError(f"{key} is {json.dumps(path)}, no path has a zero byte")
    return os.path.expanduser(path)


def absolute(key: str, path: str) -> str:
    """The program may go to another directory, and the one where it is may have an odd name too."""
    path = os.path.abspath(path)
    if writable(path) != path:
        raise MsprobeError(f"{key} is not UTF-8, choose another one: {writable(path)}")
    return path


def check_is_writable(key: str, path: str) -> None:
    """Tries it in the nearest directory that is there: of the dump nothing is made before its first step."""
    there = path
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".msprobe_", dir=there))
    except NotADirectoryError:
        raise MsprobeError("a file stands where a directory is needed; choose another path or move the file "
                           f"away: {there}") from None
    except OSError as error:
        raise MsprobeError(f"{key} cannot be written ({error.strerror}), choose another one: {path}") from None


def _check(data: Dict[str, Any], where: str) -> Config:
    """`where`: the end of what is said about it."""
    config = Config(given=data)
    for key in data:
        if key in SECTION_KEYS:
            task = data.get("task") or config.task
            warn(f'"{key}" is not used outside of a section, move it into "{task}"{where}')
        elif key not in TOP_KEYS and key not in TASKS:
            warn(f'"{key}" is not used{did_you_mean(key, TOP_KEYS + TASKS)}{where}')
    if data.get("task") is not None:
        config.task = _one_of("task", data["task"], TASKS)
    if data.get("level") is not None:
        config.level = _one_of("level", data["level"], LEVELS)
    for key in ("rank", "step"):
        if data.get(key) is not None:
            setattr(config, key, _numbers(key, data[key]))
    for key in ("async_dump", "extra_info", "overwrite", "dump_enable"):
        if data.get(key) is not None:
            setattr(config, key, boolean(key, data[key]))
    if data.get("risk_level") is not None:
        config.risk_level = _one_of("risk_level", data["risk_level"], RISK_LEVELS)
    if data.get("precision") is not None:
        _one_of("precision", data["precision"], ("low", "high"))
    _check_path(config, data)
    section = data.get(config.task, {})
    if not isinstance(section, dict):
        raise MsprobeError(
            f"{config.task} is {json.dumps(section, default=str)}, allowed is an object with the "
            "settings of the task"
        )
    _check_section(config, section)
    return config


def _check_path(config: Config, data: Dict[str, Any]) -> None:
    path = data.get("dump_path")
    if path is None or path == "":
        warn(f"dump_path is not given, the dump goes to {config.dump_path}", kind="dump_path")
        return
    config.dump_path = as_path("dump_path", path)


def _check_section(config: Config, section: Dict[str, Any]) -> None:
    for key in section:
        if key in TOP_KEYS:
            warn(f'"{key}" in {config.task} is not used there; move it out of the section')
        elif key not in SECTION_KEYS:
            warn(f'"{key}" in {config.task} is not used{did_you_mean(key, SECTION_KEYS)}')
        elif config.task not in SECTION_KEYS[key]:
            warn(f'"{key}" is not used with task {config.task}')
    value = {key: section[key] for key in section if section[key] is not None}
    config.scope = _texts("scope", value.get("scope", []))
    if len(config.scope) not in (0, 2):
        raise MsprobeError(
            f"scope is {json.dumps(config.scope)}, allowed are the first and the last name, or []"
        )
    for name in config.scope:
        is_module = name.startswith(("Module.", "Cell."))
        if (config.level == "L0" and not is_module) or (config.level == "L1" and is_module):
            kind = "modules" if config.level == "L0" else "APIs"
            raise MsprobeError(f"scope has {name}, allowed at level {config.level} are names of {kind}")
    config.listed = _texts("list", value.get("list", []))
    tensor_list = _texts("tensor_list", value.get("tensor_list", []))
    if config.task in SECTION_KEYS["tensor_list"]:  # else nothing asks for it
        config.tensor_list = tensor_list
    config.data_mode = _texts("data_mode", value.get("data_mode", [])) or ["all"]
    for word in config.data_mode:
        _one_of("data_mode", word, DATA_MODES)
    if "summary_mode" in value:
        config.summary_mode = _one_of("summary_mode", value["summary_mode"], SUMMARY_MODES)
    if "file_format" in value:
        config.file_format = _one_of("file_format", value["file_format"], FILE_FORMATS)
    if "max_bytes" in value:
        config.max_bytes = _whole("max_bytes", value["max_bytes"], 0)
    if "diff_nums" in value:
        config.diff_nums = _whole("diff_nums", value["diff_nums"], -1)
    if value.get("bench_path", "") != "":
        config.bench_path = as_path("bench_path", value["bench_path"])
        if not os.path.isdir(config.bench_path):
            raise MsprobeError("bench_path is not a directory, give the dump_path of an earlier run: "
                               f"{config.bench_path}")
        if config.task == "tensor" and config.summary_mode != "md5":
            raise MsprobeError("bench_path needs summary_mode md5, because checksums are compared")
