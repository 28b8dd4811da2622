"""Faults 2, 9, 11, 13: gradients are right, and asking for them changes nothing."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from conftest import PrecisionDebugger, read_dump
from models import CASES, Gpt, Lambda, ResNet


def _run(case, model, x, loss):
    torch.manual_seed(2)
    loss(model, x).backward()
    return [p.grad for p in model.parameters()] + [x.grad]


def _same(a, b):
    return (a is None and b is None) or torch.equal(a, b)


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("case", CASES)
def test_fault_2_same_bits(case, level, collect):
    make, loss = CASES[case]
    torch.manual_seed(1)
    model = make()
    x = torch.randn(2, 3, 8)
    plain = _run(case, copy.deepcopy(model), x.clone().requires_grad_(), loss)
    seen = copy.deepcopy(model)
    root = nn.ModuleList([seen])
    result = []
    collect(
        lambda: result.extend(_run(case, seen, x.clone().requires_grad_(), loss)), root, level=level
    )
    assert len(plain) == len(result)
    assert all(_same(a, b) for a, b in zip(plain, result))


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("make", [Gpt, ResNet])
def test_fault_2_same_bits_in_training(make, level, debugger):
    def train(step):
        torch.manual_seed(0)
        model = make()
        data = torch.randint(0, 32, (2, 8)) if make is Gpt else torch.randn(2, 3, 6, 6)
        optimizer = torch.optim.AdamW(model.parameters(), 0.01)
        for _ in range(3):
            with step(model):
                loss = model(data).pow(2).mean()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        return [*model.state_dict().values(), torch.get_rng_state()]

    import contextlib

    plain = train(lambda model: contextlib.nullcontext())
    d = debugger(level=level)
    seen = train(d.collect)
    assert all(torch.equal(a, b) for a, b in zip(plain, seen))


def test_fault_2_accumulation_order_of_a_weight_that_is_used_twice(debugger):
    def gradients(step):
        torch.manual_seed(0)
        bn = nn.BatchNorm1d(8)
        model = Lambda(lambda s, x: x + s.bn(x) * s.bn(x * 0.3) + s.bn(x), bn=bn)
        x = torch.randn(64, 8).requires_grad_()
        if step:
            step.start(model)
        model(x).pow(3).sum().backward()
        if step:
            step.stop()
            step.step()
        return [bn.weight.grad, bn.bias.grad, x.grad]

    plain = gradients(None)
    seen = gradients(debugger(level="mix"))
    assert all(torch.equal(a, b) for a, b in zip(plain, seen))


# Cases in which torch's own hooks see what we record: not where they change the program (in-place
# modules), and not where they see less (a value that is used inside the module as well).
_HOOK_CASES = [
    name for name in CASES
    if name not in ("batch norm + in-place relu", "in-place relu on a view", "output used inside",
                    "identity", "custom function", "custom functions inside", "checkpoint, reentrant",
                    "dataclass and keyword", "dict of outputs", "autocast, tied", "checkpoint", "residual, used twice",
                    "transformer layer", "transformer layer, no batch_first", "lstm")
] + ["transformer layer"]


@pytest.mark.parametrize("level", ["L0", "mix"])
@pytest.mark.parametrize("case", _HOOK_CASES)
def test_modules_agree_with_full_backward_hooks(case, level, collect):
    make, loss = CASES[case]
    torch.manual_seed(1)
    model = make()
    x = torch.randn(2, 3, 8)

    hooked = copy.deepcopy(model)
    seen = {}

    def hook(name):
        def save(module, grad_in, grad_out):
            seen[name] = ([_copy(g) for g in grad_out], [_copy(g) for g in grad_in])

        return save

    for name, module in hooked.named_modules():
        module.register_full_backward_hook(hook(name))
    _run(case, hooked, x.clone().requires_grad_(), loss)

    root = nn.ModuleList([model])
    dump = collect(
        lambda: _run(case, model, x.clone().requires_grad_(), loss), root, level=level, task="tensor"
    )
    compared = 0
    for name, module in model.named_modules():
        path = f"0.{name}" if name else "0"
        entry = dump.data.get(f"Module.{path}.{type(module).__name__}.backward.0")
        if isinstance(module, nn.Dropout) and module.p == 0:  # gives back what it gets
            assert entry is None
            continue
        if entry is None:
            assert name not in seen, f"no backward of {name}"
            continue
        out, into = seen[name]
        recorded = [dump.tensor(t) if t else None for t in entry["input"]]
        out = out[: len(recorded)]  # torch counts results that are no tensors as well
        assert _all_close(recorded, out), name
        if isinstance(module, nn.MultiheadAttention):  # gets one tensor thrice: the sum is shown
            into = [sum(into)] * len(into)
        recorded = [dump.tensor(t) if t else None for t in entry["output"]]
        assert _all_close([r for r in recorded if r is not None],
                          [g for g in into if g is not None]), name
        compared += 1
    assert compared


def _copy(tensor):
    return None if tensor is None else tensor.detach().clone()


def _all_close(a, b):
    return len(a) == len(b) and all(
        (x is None and y is None) or torch.allclose(x, y, rtol=1e-5, atol=1e-6) for x, y in zip(a, b)
    )


def _function(name):
    prefix, api = name.split(".")[:2]
    return getattr({"Functional": F, "Torch": torch, "Tensor": torch.Tensor}[prefix], api)


def _value(dump, item):
    if item is None:
        return None
    if isinstance(item, list):
        return [_value(dump, i) for i in item]
    if "data_name" in item:
        tensor = dump.tensor(item)
        return tensor.requires_grad_(item["requires_grad"]) if tensor.is_floating_point() else tensor
    return item.get("value")


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


@pytest.mark.parametrize("make", [Gpt, ResNet])
def test_fault_9_every_api_against_autograd_grad(make, collect):
    """Runs each recorded call again, alone, and compares bit for bit."""
    torch.manual_seed(0)
    model = make()
    data = torch.randint(0, 32, (2, 8)) if make is Gpt else torch.randn(2, 3, 6, 6)

    def step():
        F.cross_entropy(model(data).reshape(-1, 32 if make is Gpt else 5),
                        data.reshape(-1) if make is Gpt else torch.tensor([1, 2])).backward()

    dump = collect(step, model, level="L1", task="tensor")
    compared = set()
    for name, entry in dump.data.items():
        if not name.endswith(".backward"):
            continue
        if "dropout" in name:
            continue  # would draw other numbers
        forward = dump.data[name.replace(".backward", ".forward")]
        args = [_value(dump, i) for i in forward["input_args"]]
        kwargs = {k: _value(dump, v) for k, v in forward["input_kwargs"].items()}
        inputs = [*_tensors(args), *_tensors(list(kwargs.values()))]
        call = [a * 1 if a is args[0] and _in_place(name, kwargs) else a for a in args]
        outputs = list(_tensors(_function(name)(*call, **kwargs)))
        flowing = [_value(dump, g) for g in entry["input"]]
        assert len(flowing) == len(outputs), name
        pairs = [(o, g) for o, g in zip(outputs, flowing) if g is not None]
        wanted = [i for i in inputs if i.requires_grad]
        expected = iter(torch.autograd.grad([o for o, _ in pairs], wanted, [g for _, g in pairs],
                                            allow_unused=True))
        recorded = [_value(dump, g) for g in entry["output"]]
        assert len(recorded) == len(inputs), name
        for tensor, gradient in zip(inputs, recorded):
            if not tensor.requires_grad:
                assert gradient is None, name
                continue
            assert _same(next(expected), gradient), name
        compared.add(name.split(".")[1])
    least = {"linear", "layer_norm", "gelu", "softmax", "embedding", "__matmul__", "__add__"}
    assert compared >= (least if make is Gpt else {"conv2d", "batch_norm", "__iadd__", "linear"})


def _in_place(name, kwargs):
    api = name.split(".")[1]
    return kwargs.get("inplace") or (api.startswith("__i") and api != "__invert__") or (
        api.endswith("_") and not api.endswith("__"))


def test_fault_11_in_place_modules_and_their_neighbours(collect):
    torch.manual_seed(0)
    model = ResNet()
    dump = collect(lambda: model(torch.randn(2, 3, 6, 6)).sum().backward(), model, level="mix")
    for name in ("conv1.Conv2d", "bn1.BatchNorm2d", "conv2.Conv2d", "bn2.BatchNorm2d",
                 "fc.Linear"):
        assert f"Module.{name}.backward.0" in dump.data
    assert {"Module.relu.ReLU.backward.0", "Module.relu.ReLU.backward.1"} <= set(dump.data)
    assert dump.construct["Functional.conv2d.0.backward"] == "Module.conv1.Conv2d.backward.0"
    assert dump.construct["Functional.linear.0.backward"] == "Module.fc.Linear.backward.0"
    assert dump.construct["Module.bn1.BatchNorm2d.backward.0"] is None
    # In place: the values of the input before, those of the output after.
    relu = dump.data["Module.relu.ReLU.forward.0"]
    assert relu["input_args"][0]["Min"] < 0 <= relu["output"][0]["Min"]


def test_a_view_that_is_changed_in_place_has_its_gradient(collect):
    factor = torch.arange(6.0).reshape(2, 3)
    start = torch.ones(2, 3, requires_grad=True)

    def run():
        base = start * 2
        row = base.view(6)
        row.mul_(3)  # autograd now reaches the view through its base alone
        (base * factor).sum().backward()

    dump = collect(run, level="L1", task="tensor")
    expected = 3 * factor.reshape(6)
    assert torch.equal(dump.tensor(dump.data["Tensor.mul_.0.backward"]["output"][0]), expected)
    assert torch.equal(dump.tensor(dump.data["Tensor.view.0.backward"]["input"][0]), expected)


IN_PLACE = {"keyword": lambda part: F.relu(part, inplace=True), "positional": lambda part: F.leaky_relu(part, 0.5, True),
            "name": torch.relu_, "operator": lambda part: part.__imul__(3)}


@pytest.mark.parametrize("change", IN_PLACE)
def test_a_part_that_is_changed_in_place_has_its_gradient(collect, change):
    """Whatever says that the call writes: where the part lies in the whole is known."""
    factor = torch.arange(24.0).reshape(4, 6)
    start = torch.randn(4, 6, requires_grad=True)

    def run():
        base = start * 2
        part = base.narrow(0, 1, 2).narrow(1, 2, 3)
        IN_PLACE[change](part)
        (base * factor).sum().backward()

    dump = collect(run, level="L1", task="tensor")
    expected = start.grad[1:3, 2:5] / 2  # of the part before it was changed
    (changed,) = (entry for name, entry in dump.data.items() if name.endswith(".backward") and
                  name.split(".")[1] in ("relu", "leaky_relu", "relu_", "__imul__"))
    assert torch.equal(dump.tensor(changed["output"][0]), expected)
    assert torch.equal(dump.tensor(dump.data["Tensor.narrow.1.backward"]["input"][0]), expected)


def test_fault_13_weight_gradient_of_a_linear_without_bias_on_3_d(collect):
    layer = nn.Linear(8, 4, bias=False)
    x = torch.randn(2, 3, 8, requires_grad=True)
    dump = collect(lambda: layer(x).pow(2).sum().backward(), nn.ModuleList([layer]), level="mix",
                   task="tensor")
    entry = dump.data["Functional.linear.0.backward"]
    assert torch.equal(dump.tensor(entry["output"][1]), layer.weight.grad)
    assert torch.equal(dump.tensor(entry["output"][0]), x.grad)
    gradients = dump.data["Module.0.Linear.parameters_grad.0"]
    assert torch.equal(dump.tensor(gradients["weight"][0]), layer.weight.grad)
    assert gradients["weight"][0]["data_name"] == "Module.0.Linear.parameters_grad.0.weight.pt"


def test_a_gradient_that_comes_over_several_edges_is_their_sum(collect):
    x = torch.randn(4, requires_grad=True)
    inner = Lambda(lambda s, v: v * v + v.exp())
    model = nn.ModuleList([inner])
    dump = collect(lambda: inner(x * 1).sum().backward(), model, level="L0", task="tensor")
    entry = dump.data["Module.0.Lambda.backward.0"]
    assert torch.equal(dump.tensor(entry["output"][0]), x.grad)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_gradients_of_all_outputs_in_a_dict(level, collect):
    make, loss = CASES["dict of outputs"]
    model = make()
    x = torch.randn(2, 3, 8, requires_grad=True)
    outputs = []

    def keep(module, args, result):
        outputs.extend([result["main"], result["rest"][0], result["rest"][1][0]])
        [o.retain_grad() for o in outputs]

    model.register_forward_hook(keep)
    dump = collect(lambda: loss(model, x).backward(), nn.ModuleList([model]), level=level, task="tensor")
    entry = dump.data["Module.0.Lambda.backward.0"]
    assert [o.grad is None for o in outputs] == [False] * 3
    assert all(torch.equal(dump.tensor(g), o.grad) for g, o in zip(entry["input"], outputs))
    assert torch.allclose(dump.tensor(entry["output"][0]), x.grad)


def test_parameters_grad_counts_accumulations(debugger, tmp_path):
    layer = nn.Linear(4, 2)
    model = nn.ModuleList([layer])
    d = debugger(level="L0", task="tensor")
    d.start(model)
    sums = []
    for _ in range(3):
        layer(torch.randn(3, 4)).sum().backward()
        sums.append(layer.weight.grad.clone())
    d.stop()
    d.step()
    PrecisionDebugger._forget()
    dump = read_dump(tmp_path / "dump")
    for k, expected in enumerate(sums):
        entry = dump.data[f"Module.0.Linear.parameters_grad.{k}"]
        assert torch.equal(dump.tensor(entry["weight"][0]), expected)
        assert set(entry) == {"weight", "bias"}
    assert layer.weight._backward_hooks is None
    assert not layer.weight._post_accumulate_grad_hooks


def test_backward_after_stop_is_recorded_until_step(debugger, tmp_path):
    layer = nn.Linear(4, 2)
    model = nn.ModuleList([layer])
    d = debugger(level="mix")
    d.start(model)
    loss = layer(torch.randn(3, 4)).sum()
    d.stop()
    torch.relu(torch.randn(3))  # a new call
    loss.backward()
    d.step()
    PrecisionDebugger._forget()
    names = read_dump(tmp_path / "dump").names
    assert "Functional.linear.0.backward" in names
    assert "Module.0.Linear.parameters_grad.0" in names
    assert not any("relu" in name for name in names)


# Views whose numbers are of another kind than those of what they lie in, or are turned.
COMPLEX = torch.tensor([[1 + 2j, 3], [1j, 5 - 1j]])
OTHER_VIEWS = {
    "real": (COMPLEX, lambda z: z.real),
    "a part of imag": (COMPLEX, lambda z: z.t()[1:].imag),
    "as real": (COMPLEX, torch.view_as_real),
    "conj": (COMPLEX, lambda z: z.conj()[1]),
    "imag of conj": (COMPLEX, lambda z: z.conj().imag),
    "as complex": (torch.arange(8.0).view(4, 2), lambda x: torch.view_as_complex(x[1:])),
}


@pytest.mark.parametrize("kind", OTHER_VIEWS)
def test_what_is_written_into_a_view_of_another_kind_has_its_gradient(kind, collect):
    given, part_of = OTHER_VIEWS[kind]
    leaf, seen = given.clone().requires_grad_(), {}

    def run():
        values = leaf * 1
        part_of(values).mul_(2)
        values.register_hook(lambda gradient: seen.update(whole=gradient))
        (values * torch.arange(1.0, given.numel() + 1).view(given.shape)).abs().square().sum().backward()

    dump = collect(run, level="L1", task="tensor")
    recorded = dump.tensor(dump.data["Tensor.mul_.0.backward"]["output"][0])
    assert torch.equal(recorded, (part_of(seen["whole"]) * 2).resolve_conj().resolve_neg())
