"""Values of a call that have one name."""

import json

import torch

from conftest import PrecisionDebugger, needs_safe_loading


class Library:
    @staticmethod
    def take(values, **more):
        return values


def _tensors(pairs):
    """Also those under a key that stands twice."""
    for _, value in pairs:
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            members = dict(value)
            if "data_name" in members:
                yield members
            else:
                yield from _tensors(value)
        elif isinstance(value, list):
            yield from _tensors((None, item) for item in value)


def test_each_record_names_its_own_values(debugger, tmp_path):
    needs_safe_loading(torch.float32)
    ones, twos, threes = (torch.full((4,), float(value)) for value in (1, 2, 3))
    d = debugger(level="L1", task="tensor")
    d.register_custom_api(Library, "take", "Library")
    d.start()
    Library.take({1: ones, "1": twos, "a.b": ones, "a": {"b": threes}, "last": ones})
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    (unit,) = (tmp_path / "dump" / "step0").iterdir()
    data = json.loads((unit / "dump.json").read_text(), object_pairs_hook=list)
    tensors = list(_tensors(data))
    assert len(tensors) >= 5
    for tensor in tensors:
        saved = torch.load(unit / "dump_tensor_data" / tensor["data_name"], weights_only=True)
        assert saved.tolist() == [tensor["Max"]] * 4, tensor["data_name"]
