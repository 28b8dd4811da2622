"""Faults 8, 10, 14–16: what is recorded is right."""

import math
import os
import threading
import zlib

import msprobe
import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from conftest import PrecisionDebugger, read_dump
from models import Gpt, Lambda

SEED = torch.Generator().manual_seed(0)


def _bytes(tensor):
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return bytes(plain.view(-1).view(torch.uint8).numpy()) if plain.numel() else b""


def _expected(tensor):
    """(max, min, mean, norm) by float64."""
    values = tensor.detach()
    values = values.abs() if values.is_complex() else values
    x = values.to(torch.float64).numpy().ravel()
    if numpy.isnan(x).any():
        return (math.nan,) * 4
    return x.max(), x.min(), x.mean(), math.sqrt(numpy.square(x).sum())


def _same(recorded, expected, tolerance=1e-6):
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(recorded)
    return recorded == expected or math.isclose(recorded, expected, rel_tol=tolerance, abs_tol=1e-9)


def _random(dtype):
    x = torch.randn(37, 11, generator=SEED) * 3
    if dtype is torch.bool:
        return x > 0
    if not dtype.is_floating_point and not dtype.is_complex:
        return (x.abs() * 5).to(dtype)
    return (torch.complex(x, x.flip(0)) if dtype.is_complex else x).to(dtype)


DTYPES = [
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128,
] + [getattr(torch, n) for n in ("float8_e4m3fn", "float8_e5m2", "uint16", "uint32") if hasattr(torch, n)]

VIEWS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "every other": lambda t: t[::2, 1::3],
    "expanded": lambda t: t[:1].expand(5, 11),
    "one element": lambda t: t[3, 4],
    "empty": lambda t: t[:0],
}


def _describe(collect, tensors, **config):
    """What is recorded of tensors that are given to a module."""
    module = Lambda(lambda s, *a: None)
    dump = collect(lambda: module(*tensors), nn.ModuleList([module]), level="L0", **config)
    return dump, dump.data["Module.0.Lambda.forward.0"]["input_args"]


@pytest.mark.parametrize("path", ["exchange", "attributes", "device"])
def test_fault_14_statistics_of_every_dtype_and_layout(path, run_script, tmp_path):
    env = {"exchange": {}, "attributes": {"MSPROBE_EXCHANGE_API": "0"},
           "device": {"MSPROBE_FORCE_DEVICE_PATH": "1"}}[path]
    import os
    import pathlib

    here = str(pathlib.Path(__file__).parent)
    run_script(f"import sys; sys.path.insert(0, {here!r})\nimport test_recorded\ntest_recorded.check_values()",
               env={**os.environ, **env})


def check_values():
    """In a process of its own: how tensors are read is chosen once."""
    tensors = [view(_random(dtype)) for dtype in DTYPES for view in VIEWS.values()]
    special = torch.tensor([1.0, float("inf"), -2.0])
    not_a_number = torch.tensor([1.0, float("nan"), float("-inf")])
    tiny = torch.tensor([1e-40, -1e-44])
    large = torch.full((300,), 60000.0, dtype=torch.float16)
    negative_bit = torch.complex(torch.ones(3), torch.arange(3.0)).conj().imag
    tensors += [special, not_a_number, tiny, large, negative_bit, torch.randn(5, dtype=torch.cfloat).conj()]
    module = Lambda(lambda s, *a: None)
    debugger = PrecisionDebugger(level="L0", dump_path="values")
    with debugger.collect(nn.ModuleList([module])):
        module(*tensors)
    PrecisionDebugger._forget()
    dump = read_dump("values")
    recorded = dump.data["Module.0.Lambda.forward.0"]["input_args"]
    assert len(recorded) == len(tensors)
    for tensor, entry in zip(tensors, recorded):
        assert entry["type"] == "torch.Tensor" and entry["dtype"] == str(tensor.dtype)
        assert entry["shape"] == list(tensor.shape)
        values = [entry[key] for key in ("Max", "Min", "Mean", "Norm")]
        if tensor.numel() == 0:
            assert values == [None] * 4, entry
            continue
        assert all(map(_same, values, _expected(tensor))), (entry, _expected(tensor))
        if tensor.dtype is torch.bool:
            assert isinstance(entry["Max"], bool)
        elif not tensor.is_floating_point() and not tensor.is_complex():
            assert isinstance(entry["Max"], int) and isinstance(entry["Min"], int)
    infinite = recorded[len(tensors) - 6]
    assert infinite["Max"] == math.inf and infinite["inf_count"] == 1
    assert recorded[len(tensors) - 5]["nan_count"] == 1


def test_fault_14_checksums_are_those_of_the_contiguous_bytes(collect):
    tensors = [view(_random(dtype)) for dtype in DTYPES for view in VIEWS.values()]
    _, recorded = _describe(collect, tensors, summary_mode="md5")
    for tensor, entry in zip(tensors, recorded):
        assert entry["md5"] == f"{zlib.crc32(_bytes(tensor)):08x}", entry


def test_fault_14_xor_mode_has_no_statistics(collect):
    tensor = torch.arange(5, dtype=torch.float32)
    _, recorded = _describe(collect, [tensor], summary_mode="xor")
    raw = _bytes(tensor) + b"\0" * 4
    expected = 0
    for i in range(0, 24, 8):
        expected ^= int.from_bytes(raw[i:i + 8], "little")
    assert recorded[0]["md5"] == f"0x{expected:016x}"
    assert "Max" not in recorded[0]


def test_fault_14_tensors_without_values(collect):
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    tail = torch.ones(10)[6:]
    tail.untyped_storage().resize_(0)
    sparse = torch.ones(2, 2).to_sparse()
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)

    class Sub(torch.Tensor):
        pass

    tensors = [torch.ones(2, device="meta"), freed, tail, sparse, nested, quantized,
               torch.ones(3).as_subclass(Sub)]
    _, recorded = _describe(collect, tensors)
    for entry in recorded[:6]:
        assert [entry[key] for key in ("Max", "Min", "Mean", "Norm")] == [None] * 4, entry
    assert recorded[0]["shape"] == [2] and recorded[3]["shape"] == [2, 2]
    assert recorded[6]["type"] == "Sub" and recorded[6]["Norm"] == pytest.approx(3**0.5)


def test_values_that_are_not_tensors(collect):
    import collections

    Named = collections.namedtuple("Named", "left right")

    class Unknown:
        pass

    values = [1, 2.5, True, "text", None, [1, (2, torch.ones(1))], {"k": 3, 4: "v"}, Named(1, 2),
              slice(0, 3), ..., torch.Size([2, 3]), torch.float16, torch.device("cpu"),
              torch.contiguous_format, numpy.float32(1.5), numpy.arange(3), Unknown(), 10**30, 1 + 2j]
    _, recorded = _describe(collect, values)
    assert recorded[:5] == [{"type": "int", "value": 1}, {"type": "float", "value": 2.5},
                            {"type": "bool", "value": True}, {"type": "str", "value": "text"}, None]
    assert recorded[5][0]["value"] == 1 and recorded[5][1][1]["shape"] == [1]
    assert recorded[6]["k"]["value"] == 3 and recorded[6]["4"]["value"] == "v"
    assert recorded[7] == {"left": {"type": "int", "value": 1}, "right": {"type": "int", "value": 2}}
    assert recorded[8] == {"type": "slice", "value": [0, 3, None]}
    assert recorded[10] == {"type": "torch.Size", "value": [2, 3]}
    assert recorded[11] == {"type": "torch.dtype", "value": "torch.float16"}
    assert recorded[12] == {"type": "torch.device", "value": "cpu"}
    assert recorded[14] == {"type": "numpy.float32", "value": 1.5}
    assert recorded[15] == {"type": "numpy.ndarray", "value": "[0, 1, 2]"}
    assert recorded[16]["type"].endswith("Unknown") and "value" not in recorded[16]
    assert recorded[17] == {"type": "int", "value": 10**30}


def test_fault_8_checksum_of_an_input_is_that_at_the_call(collect):
    expected = []

    def program():
        for i in range(200):
            x = torch.full((64,), float(i))
            expected.append(f"{zlib.crc32(_bytes(x)):08x}")
            torch.relu(x)
            x.zero_()

    dump = collect(program, None, level="L1", summary_mode="md5")
    names = [n for n in dump.names if ".relu." in n]
    assert [dump.data[n]["input_args"][0]["md5"] for n in names] == expected


def test_in_place_calls_show_the_input_before_and_the_output_after(collect):
    x = torch.tensor([-1.0, 2.0])
    dump = collect(lambda: x.relu_(), None, level="L1")
    entry = dump.data["Tensor.relu_.0.forward"]
    assert entry["input_args"][0]["Min"] == -1 and entry["output"][0]["Min"] == 0


@pytest.mark.parametrize("reentrant", [False, True])
def test_fault_10_recomputation(reentrant, collect):
    layer = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
    x = torch.randn(2, 8, requires_grad=True)
    dump = collect(lambda: checkpoint(layer, x * 1, use_reentrant=reentrant).sum().backward(),
                   nn.ModuleList([layer]), level="mix", task="tensor")
    # Gradients belong to the call that made the graph: the first, or the recomputed one.
    (name,) = [n for n in dump.names if n.startswith("Module.0.0.Linear.backward.")]
    assert name.endswith(".1" if reentrant else ".0")
    gradients = dump.data["Module.0.0.Linear.parameters_grad.0"]
    assert torch.equal(dump.tensor(gradients["weight"][0]), layer[0].weight.grad)
    assert {"Module.0.0.Linear.forward.0", "Module.0.0.Linear.forward.1"} <= set(dump.names)


def test_fault_10_no_grad_and_autocast(collect):
    layer = nn.Linear(8, 8)

    def program():
        with torch.no_grad():
            layer(torch.randn(2, 8))
        with torch.autocast("cpu", torch.bfloat16):
            layer(torch.randn(2, 8)).sum().backward()

    dump = collect(program, nn.ModuleList([layer]), level="mix")
    assert "Module.0.Linear.backward.0" not in dump.data
    entry = dump.data["Module.0.Linear.backward.1"]
    assert entry["input"][0]["dtype"] == "torch.bfloat16"
    assert dump.data["Functional.linear.1.backward"]["output"][1]["dtype"] == "torch.bfloat16"


def test_fault_10_vmap_and_functional_gradients(collect):
    layer = nn.Linear(4, 4)
    params = {k: v.detach() for k, v in layer.named_parameters()}
    x = torch.randn(3, 4)
    result = []

    def loss(p, v):
        return torch.func.functional_call(layer, p, (v,)).pow(2).sum()

    def program():
        result.append(torch.func.vmap(torch.func.grad(loss), (None, 0))(params, x))

    expected = torch.func.vmap(torch.func.grad(loss), (None, 0))(params, x)
    dump = collect(program, nn.ModuleList([layer]), level="mix")
    assert all(torch.equal(result[0][k], expected[k]) for k in expected)
    entry = dump.data["Functional.linear.0.forward"]["input_args"][0]
    assert entry["Max"] is None and entry["dtype"] == "torch.float32"


def test_fault_10_hooks_of_the_user(collect):
    layer = nn.Linear(4, 4)
    seen = []
    layer.register_forward_pre_hook(lambda m, a: seen.append("pre"))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append("backward"))
    layer.register_forward_hook(lambda m, a, o: o * 2)
    x = torch.randn(2, 4, requires_grad=True)
    dump = collect(lambda: layer(x).sum().backward(), nn.ModuleList([layer]), level="mix", task="tensor")
    assert seen == ["pre", "backward"]
    entry = dump.data["Module.0.Linear.forward.0"]
    assert torch.allclose(dump.tensor(entry["output"][0]), 2 * F.linear(x, layer.weight, layer.bias))
    assert entry["input_args"][0]["requires_grad"] is True
    assert "Module.0.Linear.backward.0" in dump.data


def test_fault_10_shared_modules_and_frozen_inputs(collect):
    layer = nn.Linear(4, 4)
    model = nn.ModuleDict({"a": layer, "b": layer})
    frozen = nn.Linear(4, 4).requires_grad_(False)
    model["c"] = frozen
    dump = collect(lambda: (model["b"](frozen(torch.randn(2, 4)))).sum().backward(), model, level="mix")
    assert "Module.a.Linear.forward.0" in dump.data and "Module.a.Linear.backward.0" in dump.data
    assert dump.data["Module.a.Linear.backward.0"]["output"] == [None]  # nothing flows to the input
    assert "Module.c.Linear.forward.0" in dump.data and "Module.c.Linear.backward.0" not in dump.data
    assert "Module.c.Linear.parameters_grad.0" not in dump.data


def test_fault_10_modules_in_threads(collect):
    layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
    x = torch.randn(2, 8)

    def work(layer):
        for _ in range(20):
            layer.zero_grad()
            layer(x).sum().backward()

    def program():
        threads = [threading.Thread(target=work, args=(layer,)) for layer in layers]
        [t.start() for t in threads]
        [t.join() for t in threads]

    dump = collect(program, layers, level="mix")
    for kind in ("forward", "backward", "parameters_grad"):
        assert sum(n.startswith("Module.") and f".{kind}." in n for n in dump.names) == 80, kind
    calls = [n for n in dump.names if n.startswith("Functional.linear.") and n.endswith("forward")]
    assert sorted(calls) == sorted(f"Functional.linear.{i}.forward" for i in range(80))
    for name in calls:
        assert dump.construct[name].startswith("Module.")


def test_fault_15_counters_restart_with_every_step(debugger, tmp_path):
    model = Gpt()
    ids = torch.randint(0, 32, (2, 4))
    d = debugger(level="mix", top={"step": [0, 1, 3]})
    for _ in range(5):
        d.start(model)
        F.cross_entropy(model(ids).view(-1, 32), ids.view(-1)).backward()
        d.stop()
        d.step()
    PrecisionDebugger._forget()
    dumps = [read_dump(tmp_path / "dump", step) for step in (0, 1, 3)]
    assert dumps[0].names == dumps[1].names == dumps[2].names
    assert dumps[0].construct == dumps[1].construct == dumps[2].construct
    assert not (tmp_path / "dump" / "step2").exists()


def test_fault_16_order_is_the_order_of_execution(collect):
    def program():
        x = torch.ones(2)
        for _ in range(50):
            torch.sin(x)
            F.relu(x)
            torch.exp(x)

    dump = collect(program, None, level="L1")
    expected = [f"{api}.{i}.forward" for i in range(50) for api in ("Torch.sin", "Functional.relu", "Torch.exp")]
    assert dump.names == expected


def test_children_come_before_their_module_and_construct_in_order_of_entry(collect):
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.ReLU())
    dump = collect(lambda: model(torch.randn(1, 2)).sum().backward(), nn.ModuleList([model]), level="mix")
    forward = [n for n in dump.names if "forward" in n and n.startswith("Module")]
    assert forward == ["Module.0.0.0.Linear.forward.0", "Module.0.0.Sequential.forward.0",
                       "Module.0.1.ReLU.forward.0", "Module.0.Sequential.forward.0"]
    entered = [n for n in dump.construct if "forward" in n and n.startswith("Module")]
    assert entered == ["Module.0.Sequential.forward.0", "Module.0.0.Sequential.forward.0",
                       "Module.0.0.0.Linear.forward.0", "Module.0.1.ReLU.forward.0"]
    assert dump.construct["Module.0.0.0.Linear.backward.0"] == "Module.0.0.Sequential.backward.0"
    assert dump.construct["Functional.linear.0.forward"] == "Module.0.0.0.Linear.forward.0"


def test_stacks_name_the_program_and_not_the_tool(collect):
    layer = nn.Linear(2, 2)
    dump = collect(lambda: layer(torch.randn(1, 2)), nn.ModuleList([layer]), level="mix")
    frames = {name: frames for names, frames in dump.stack.values() for name in names}
    stack = frames["Functional.linear.0.forward"]
    assert "linear.py" in stack[0] and "return F.linear(" in stack[0]
    assert any("test_recorded.py" in f and "layer(torch.randn(1, 2))" in f for f in stack)
    assert not any(os.path.dirname(msprobe.__file__) + "/" in f for f in stack)
    assert sum("_wrapped_call_impl" in f for f in stack) == 1


@pytest.mark.parametrize("foreach", [False, True])  # the second is torch's choice on a device
def test_groups_of_the_optimizer_and_of_clipping(foreach, collect):
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), 0.1, foreach=foreach)
    clipped = []

    def program():
        layer(torch.ones(1, 2)).sum().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 0.5, foreach=foreach)
        clipped.append(layer.weight.grad.max().item())
        optimizer.step()

    dump = collect(program, nn.ModuleList([layer]), level="mix")
    assert dump.construct["optimizer"] is None
    assert "optimizer" not in dump.data
    parts = {group: [name for name, parent in dump.construct.items() if parent == group]
             for group in ("optimizer", "clip_grad")}
    eps = [record for name, record in dump.data.items()
           if name in parts["optimizer"] and 1e-8 in [value.get("value") for value in record["input_args"]
                                                      if isinstance(value, dict)]]
    assert eps, "the call that adds eps"
    multiplied = [name for name in parts["clip_grad"] if "mul_" in name]
    assert multiplied
    if foreach:
        assert {name.split(".")[1] for name in parts["optimizer"]} > {"_foreach_add_", "_foreach_addcdiv_"}
        (tensors,) = dump.data[multiplied[0]]["output"]  # a list is one result
        gives_nothing = torch._foreach_mul_([torch.ones(1)], 1.0) is None  # older ones of torch
        assert tensors is None if gives_nothing else tensors[0]["Max"] == pytest.approx(clipped[0])


def test_a_step_in_one_line_on_the_class(debugger, tmp_path):
    debugger(level="L1")
    with PrecisionDebugger.collect():
        torch.sin(torch.ones(2))
    PrecisionDebugger._forget()
    assert read_dump(tmp_path / "dump").names == ["Torch.sin.0.forward"]
