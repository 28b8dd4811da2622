"""What the collector has written, and configurations for it: for the tests under each framework."""

import json
import pathlib


class Dump:
    """One step<N>/{rank<R>,proc<PID>}."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.all = self._read("dump.json")
        self.data = self.all.get("data", {})
        self.stack = self._read("stack.json")
        self.construct = self._read("construct.json")
        self.ledger = self._read("ledger.json")
        log = self.directory / "dump_error_info.log"
        self.errors = log.read_text() if log.exists() else ""

    def _read(self, name):
        path = self.directory / name
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def names(self):
        return list(self.data)

    def tensor(self, description):
        path = self.directory / "dump_tensor_data" / description["data_name"]
        if path.suffix == ".pt":
            import torch

            return torch.load(path, weights_only=True)
        import numpy

        return numpy.load(path)


def described_tensors(entry):
    """What an entry says about each of its tensors."""
    if isinstance(entry, dict):
        if "dtype" in entry and "shape" in entry:
            yield entry
        else:
            for item in entry.values():
                yield from described_tensors(item)
    elif isinstance(entry, list):
        for item in entry:
            yield from described_tensors(item)


def units(root, step=0):
    directory = pathlib.Path(root) / f"step{step}"
    return sorted(directory.iterdir()) if directory.exists() else []


def read_dump(root, step=0):
    (unit,) = units(root, step)
    return Dump(unit)


def write_config(directory, *, task="statistics", level="mix", root=None, top=None, **section):
    path = pathlib.Path(directory) / "config.json"
    config = {"task": task, "level": level, "dump_path": str(root or pathlib.Path(directory) / "dump")}
    config.update(top or {})
    config[task] = section
    path.write_text(json.dumps(config))
    return str(path)
