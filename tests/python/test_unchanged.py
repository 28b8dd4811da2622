"""Faults 1–7: the tool must not change the program."""

import copy
import gc
import inspect
import io
import pickle
import types
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn, relu as early_relu
from torch.nn.functional import cross_entropy as early_cross_entropy
from torch.utils.checkpoint import checkpoint

from models import Gpt, Lambda, ResNet

FUNCTIONS = {
    "builtin": lambda: torch.relu,
    "functional builtin": lambda: F.gelu,
    "functional python": lambda: F.cross_entropy,
    "dispatch": lambda: F.max_pool2d,
    "method": lambda: torch.Tensor.add,
    "operator": lambda: torch.Tensor.__add__,
    "python method": lambda: torch.Tensor.split,
    "slot": lambda: torch.Tensor.__setitem__,
    "module call": lambda: nn.Module.__call__,
}


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_fault_1_copies_and_pickles_of_the_model(level, debugger, run_script):
    model = Gpt()
    before = pickle.dumps(model)
    d = debugger(level=level)
    d.start(model)
    ids = torch.randint(0, 32, (2, 4))
    model(ids).sum().backward()
    other = copy.deepcopy(model)
    saved = io.BytesIO()
    torch.save(model.state_dict(), saved)
    pickled = pickle.dumps(model)
    assert b"msprobe" not in pickled and len(pickled) == len(before)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    assert other(ids).abs().max() == 0  # the copy runs its own weights
    assert model(ids).abs().max() > 0
    d.stop()
    d.step()
    loaded = pickle.loads(pickled)
    assert [sorted(m.__dict__) for m in loaded.modules()] == [
        sorted(m.__dict__) for m in pickle.loads(before).modules()]
    assert torch.equal(loaded.eval()(ids), pickle.loads(before).eval()(ids))


def test_fault_1_models_live_as_long_as_the_program_wants(debugger):
    d = debugger(level="mix")
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    d.start(model)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    d.stop()
    d.step()
    owned = [weakref.ref(model), weakref.ref(model[0].weight), weakref.ref(optimizer)]
    del model, optimizer
    gc.collect()
    assert [reference() for reference in owned] == [None] * 3


def test_fault_1_what_was_pickled_loads_without_the_tool(debugger, tmp_path, run_script):
    d = debugger(level="mix")
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    d.start(model)
    model(torch.randn(2, 4)).sum().backward()
    torch.save(model, tmp_path / "model.pt")
    (tmp_path / "functions.pickle").write_bytes(pickle.dumps([F.gelu, F.cross_entropy, torch.relu]))
    d.stop()
    d.step()
    run_script(
        """
        import pickle, sys, torch
        model = torch.load("model.pt", weights_only=False)
        print(model(torch.ones(1, 4)))
        assert pickle.load(open("functions.pickle", "rb"))[2] is torch.relu
        assert not any(name.startswith("msprobe") for name in sys.modules)
        """
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fault_1_functions_look_as_before(name, debugger):
    def look(function):
        try:
            signature = str(inspect.signature(function))
        except ValueError:
            signature = None
        return (function.__doc__, function.__name__, function.__qualname__, signature,
                getattr(function, "__module__", None), getattr(function, "__self__", None),
                type(function), getattr(function, "__defaults__", None))

    before = look(FUNCTIONS[name]())
    d = debugger(level="mix")
    d.start(nn.ModuleList([nn.Linear(2, 2)]))
    during = look(FUNCTIONS[name]())
    d.stop()
    d.step()
    assert during == before
    assert look(FUNCTIONS[name]()) == before


def test_fault_1_script_and_source_of_functions_while_collecting(debugger):
    d = debugger(level="L1")
    d.start()
    source = inspect.getsource(F.softmax)
    scripted = torch.jit.script(lambda_free_module())
    d.stop()
    d.step()
    assert source.startswith("def softmax(")
    assert scripted(torch.ones(3)).shape == (3,)


def lambda_free_module():
    class Small(nn.Module):
        def forward(self, x):
            return F.relu(x) + torch.tanh(x)

    return Small()


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_fault_2_fast_path_of_transformer_layers(level, collect):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(2, 3, 8)
    with torch.no_grad():
        expected = layer(x)
        result = []
        collect(lambda: result.append(layer(x)), nn.ModuleList([layer]), level=level)
    assert torch.equal(result[0], expected)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2"])
def test_fault_3_tensors_stay_what_they_are(name, collect):
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip("this version of torch does not have the dtype")
    raw = torch.arange(16, dtype=torch.uint8)
    tensor = raw.view(dtype)
    storage = tensor.untyped_storage().data_ptr()
    collect(lambda: tensor.view(torch.uint8).clone(), None, level="L1", task="tensor")
    assert tensor.dtype is dtype and tensor.untyped_storage().data_ptr() == storage
    assert torch.equal(tensor.view(torch.uint8), raw)


def test_fault_4_exceptions_of_the_program_pass_unchanged(collect):
    class Custom(Exception):
        pass

    def fail(module, x):
        F.relu(x)
        raise Custom("as thrown")

    bad, good = Lambda(fail), nn.Linear(4, 4)
    model = nn.ModuleList([bad, good])

    def program():
        with pytest.raises(Custom, match="as thrown"):
            bad(torch.randn(2, 4))
        with pytest.raises(RuntimeError, match="size mismatch|shapes cannot|must match"):
            torch.randn(2, 3) @ torch.randn(4, 5)
        with pytest.raises(TypeError):
            torch.relu(3)
        good(torch.randn(2, 4, requires_grad=True)).sum().backward()

    dump = collect(program, model, level="mix")
    assert "Module.0.Lambda.forward.0" not in dump.data
    assert dump.construct["Module.1.Linear.forward.0"] is None  # nothing of the failed call is left
    assert "Module.1.Linear.backward.0" in dump.data
    assert dump.ledger["entries"]["skipped"]["exception"] == 3


def test_fault_4_early_stop_of_recomputation(collect):
    layer = nn.Sequential(nn.Linear(8, 8), nn.GELU())
    model = nn.ModuleList([layer])
    x = torch.randn(2, 8, requires_grad=True)

    def program():
        checkpoint(layer, x * 1, use_reentrant=False).sum().backward()
        layer(x).sum().backward()

    dump = collect(program, model, level="mix")
    assert "Module.0.1.GELU.backward.0" in dump.data  # gradients come to the first call
    assert dump.construct["Functional.linear.0.backward"] == "Module.0.0.Linear.backward.0"
    last = [n for n in dump.names if n.startswith("Module.0.0.Linear.forward.")][-1]
    parent = dump.construct[last]
    assert parent is not None and parent.startswith("Module.0.Sequential.forward.")


def test_fault_4_values_that_raise_when_they_are_looked_at(collect):
    class Odd:
        @property
        def __dataclass_fields__(self):
            raise KeyError("not for you")

        def __str__(self):
            raise ValueError("nor this")

        __repr__ = __str__

    module = Lambda(lambda s, x, odd: x + 1)
    dump = collect(lambda: module(torch.ones(2), Odd()), nn.ModuleList([module]), level="mix")
    assert "Tensor.__add__.0.forward" in dump.data
    assert dump.data["Module.0.Lambda.forward.0"]["input_args"][1] == {"type": Odd.__qualname__}


def test_fault_5_everything_is_as_before_after_stop(debugger):
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def state():
        module = nn.modules.module
        return {
            "functions": {name: (make(), getattr(make(), "__code__", None),
                                 dict(getattr(make(), "__dict__", None) or {}))
                          for name, make in FUNCTIONS.items()},
            "modules": [sorted(m.__dict__) for m in model.modules()],
            "hooks": [dict(m._forward_hooks) for m in model.modules()],
            "global hooks": [dict(module._global_forward_hooks), dict(module._global_forward_pre_hooks),
                             dict(module._global_backward_hooks)],
            "tensor": sorted(torch.Tensor.__dict__),
            "functional": sorted(F.__dict__),
            "torch": sorted(torch.__dict__),
            "autograd": torch.autograd.Function.__dict__.get("_register_hook"),
            "parameters": [(p._backward_hooks, p._post_accumulate_grad_hooks, p.grad_fn)
                           for p in model.parameters()],
            "step": torch.optim.SGD.step.__code__,
        }

    state()  # docstrings and the like are made when first looked at
    optimizer.zero_grad()
    before = state()
    d = debugger(level="mix")
    for _ in range(2):
        d.start(model)
        model(torch.randn(2, 3, 6, 6)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        d.stop()
        d.step()
    after = state()
    for key in before:
        assert after[key] == before[key], key


def test_fault_5_saved_values_have_no_hooks_after_the_step(debugger):
    d = debugger(level="debug")
    layer = nn.Linear(3, 3)
    for _ in range(2):
        d.start()
        between = layer(torch.ones(2, 3))
        d.save(layer.weight, "weight")
        d.save([between], "between")
        between.sum().backward()
        d.stop()
        d.step()
        assert not layer.weight._backward_hooks and not between._backward_hooks


def test_fault_6_the_framework_raises_its_own_errors(debugger):
    def errors():
        texts = []
        leaf = torch.randn(4, requires_grad=True)
        first, _ = (leaf * 1).chunk(2)
        programs = [
            lambda: leaf.add_(1),
            lambda: nn.Sequential(nn.ReLU(inplace=True))(leaf),
            lambda: first.add_(1),
            lambda: [c.mul_(2) for c in (leaf * 1).unbind()],
            lambda: leaf.view(2, 2)[0].zero_(),
        ]
        for program in programs:
            try:
                program()
                texts.append("fine")
            except RuntimeError as error:
                texts.append(str(error))
        return texts

    plain = errors()
    d = debugger(level="mix")
    d.start(nn.ModuleList([nn.ReLU()]))
    seen = errors()
    d.stop()
    d.step()
    assert seen == plain
    assert any("leaf Variable" in text for text in plain)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fault_7_identity_of_functions(name, debugger):
    saved = FUNCTIONS[name]()
    d = debugger(level="mix")
    d.start(nn.ModuleList([nn.ReLU()]))
    assert FUNCTIONS[name]() is saved
    assert early_relu is torch.relu
    d.stop()
    d.step()
    assert FUNCTIONS[name]() is saved


def test_fault_12_functions_that_were_imported_early(collect):
    def program():
        early_relu(torch.randn(3))
        early_cross_entropy(torch.randn(2, 3), torch.tensor([0, 1]))
        bound = torch.ones(3).exp
        bound()
        getattr(torch.ones(3), "add")(1)
        list(map(torch.sin, [torch.ones(2)] * 2))

    dump = collect(program, None, level="L1")
    assert {"Functional.relu.0.forward", "Torch.relu.0.forward"} & set(dump.names)
    assert "Functional.cross_entropy.0.forward" in dump.names
    assert "Tensor.exp.0.forward" in dump.names
    assert "Tensor.add.0.forward" in dump.names
    assert {"Torch.sin.0.forward", "Torch.sin.1.forward"} <= set(dump.names)


def test_nothing_of_the_graph_is_kept_alive(debugger):
    layer = nn.Linear(4, 4)
    d = debugger(level="mix")
    d.start(nn.ModuleList([layer]))
    gc.disable()
    try:
        y = layer(torch.randn(2, 4))
        storage = weakref.ref(y)
        y.sum().backward()
        del y
        assert storage() is None
        z = layer(torch.randn(2, 4))  # no backward at all
        other = weakref.ref(z)
        del z
        assert other() is None
    finally:
        gc.enable()
    d.stop()
    d.step()


def test_compiled_regions_stay_compiled(debugger):
    calls = []

    def backend(graph, example_inputs):
        calls.append(len(graph.graph.nodes))
        return graph.forward

    model = nn.Sequential(nn.Linear(4, 4), nn.GELU())
    x = torch.randn(2, 4)
    expected = model(x)
    d = debugger(level="L1")
    d.start()
    compiled = torch.compile(lambda v: F.gelu(torch.relu(v)) + 1, backend=backend)
    result = compiled(x)
    d.stop()
    d.step()
    assert len(calls) == 1
    assert torch.equal(result, F.gelu(torch.relu(x)) + 1)
    assert expected.shape == (2, 4)


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_what_is_given_back_and_what_is_passed_are_the_same_objects(level, debugger):
    model = nn.Sequential(nn.Identity(), nn.Dropout(), Lambda(lambda s, x: x)).eval()
    x, weight = torch.ones(2, 4, requires_grad=True) * 1, nn.Parameter(torch.ones(4))
    passed = []
    library = types.SimpleNamespace(scale=lambda p, q=None: passed.extend((p, q)) or p)
    d = debugger(level=level)
    d.register_custom_api(library, "scale", "Mine")
    d.start(model)
    assert model(x) is x and library.scale(weight, q=weight) is weight and x.add_(1) is x
    assert all(value is weight for value in passed) and len(passed) == 2
    d.stop()
    d.step()
