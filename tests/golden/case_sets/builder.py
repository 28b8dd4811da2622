"""Building blocks of the generated cases: dumps, tensor files, case folders."""
import json
import shutil
import struct
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "cases"
NET = "Module.net.Net.forward.0"
FC1 = "Module.net.fc1.Linear.forward.0"
FC2 = "Module.net.fc2.Linear.forward.0"
BOTH = "msprobe graph npu bench -o out"


def tensor(value=1.0, shape=(2, 3), dtype="torch.float32", grad=False, **extra):
    """A tensor whose four statistics all scale with `value`; `extra` overrides keys."""
    record = {"type": "torch.Tensor", "dtype": dtype, "shape": list(shape), "Max": 2.0 * value,
              "Min": -1.0 * value, "Mean": 0.5 * value, "Norm": 4.0 * value,
              "requires_grad": grad}
    record.update(extra)
    return record


def scalar(value):
    return {"type": type(value).__name__, "value": value}


def frames(line, code, file="/home/user/model.py"):
    return [f"File {file}, line {line}, in forward, \n {code}",
            "File /home/user/train.py, line 9, in <module>, \n loss = net(x)"]


class Dump:
    """The directory of one rank."""

    def __init__(self, task="statistics", level="mix", framework="pytorch", data_dir=None):
        self.head = {"task": task, "level": level, "framework": framework,
                     "dump_data_dir": data_dir}
        self.data, self.construct, self.stack = {}, {}, {}
        self.files = {}  # name in dump_tensor_data → bytes
        self.texts = {}  # name → text that replaces what would be written; None: no such file

    def forward(self, name, parent, inputs=(), outputs=(), parameters=None, stack=None, **kwargs):
        self.construct[name] = parent
        self.data[name] = {"input_args": list(inputs), "input_kwargs": kwargs,
                           "output": list(outputs)}
        if parameters:
            self.data[name]["parameters"] = parameters
        if stack:
            self.stack[name] = stack
        return self

    def backward(self, name, parent, inputs=(), outputs=()):
        self.construct[name] = parent
        self.data[name] = {"input": list(inputs), "output": list(outputs)}
        return self

    def loose(self, name, **sections):
        """A record that construct.json does not name."""
        self.data[name] = sections
        return self

    def write(self, directory: Path):
        directory.mkdir(parents=True, exist_ok=True)
        texts = {"dump.json": json.dumps({**self.head, "data": self.data}, indent=1),
                 "stack.json": json.dumps(self.stack, indent=1),
                 "construct.json": json.dumps(self.construct, indent=1), **self.texts}
        for name, text in texts.items():
            if text is not None:
                (directory / name).write_text(text)
        for name, content in self.files.items():
            (directory / "dump_tensor_data").mkdir(exist_ok=True)
            (directory / "dump_tensor_data" / name).write_bytes(content)


def small(out=None, inputs=None, task="statistics", **options):
    """Net(fc1(linear), relu, fc2(linear)). `out`, `inputs`: name → value of its tensors, 1 if
    not given; a tensor can be given as a dict."""
    out, inputs = out or {}, inputs or {}

    def made(values, name):
        value = values.get(name, 1.0)
        return [value if isinstance(value, dict) else tensor(value)]

    dump = Dump(task=task, **options)
    places = [(NET, None, "net(x)", 20), (FC1, NET, "x = self.fc1(x)", 21),
              ("Functional.linear.0.forward", FC1, "F.linear(input, self.weight)", 114),
              ("Functional.relu.0.forward", NET, "x = F.relu(x)", 22),
              (FC2, NET, "x = self.fc2(x)", 23),
              ("Functional.linear.1.forward", FC2, "F.linear(input, self.weight)", 114)]
    for name, parent, code, line in places:
        dump.forward(name, parent, made(inputs, name), made(out, name), stack=frames(line, code))
    return dump


def floats(values, code="<f4", shape=None):
    """The bytes of an .npy file."""
    letter = {"<f4": "f", "<f8": "d", "<i8": "q", "|b1": "?", "<f2": "e"}[code]
    shape = [len(values)] if shape is None else shape
    text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({text}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{letter}", *values))


def stored(dump, name, values, dtype="torch.float32", code="<f4", shape=None, content=None,
           **extra):
    """A tensor record with its file; `content` replaces the file's bytes, None-like "" = no file."""
    shape = [len(values)] if shape is None else shape
    finite = [v for v in values if v == v and abs(v) != float("inf")] or [0.0]
    record = tensor(1.0, shape, dtype, Max=max(finite), Min=min(finite),
                    Mean=sum(finite) / len(finite), Norm=sum(v * v for v in finite) ** 0.5,
                    data_name=name)
    record.update(extra)
    content = floats(values, code, shape) if content is None else content
    if content:
        dump.files[name] = content
    return record


def _toml(value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def case(name, summary, run=BOTH, files=None, **config):
    """Writes cases/<name>. `files`: relative path → Dump, text or bytes."""
    directory = CASES / name
    shutil.rmtree(directory / "input", ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in (files or {}).items():
        target = directory / "input" / path
        if isinstance(content, Dump):
            content.write(target)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    # Each command has an output directory of its own: the names hold only seconds.
    runs = [run] if isinstance(run, str) else [
        line.replace("-o out", f"-o out{k + 1}") if k else line for k, line in enumerate(run)]
    config = {"summary": summary, "run": runs, **config}
    (directory / "case.toml").write_text(
        "".join(f"{key} = {_toml(value)}\n" for key, value in config.items()))
