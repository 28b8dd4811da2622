"""Building one graph: places, stacks, micro steps, overflow."""
from .builder import FC1, FC2, NET, Dump, case, frames, scalar, small, tensor

BUILD = "msprobe graph npu -o out"
NAN = float("nan")


def backward_net():
    dump = small()
    for name, parent in (("Module.net.Net.backward.0", None),
                         ("Module.net.fc2.Linear.backward.0", "Module.net.Net.backward.0"),
                         ("Functional.linear.1.backward", "Module.net.fc2.Linear.backward.0"),
                         ("Module.net.fc1.Linear.backward.0", "Module.net.Net.backward.0")):
        dump.backward(name, parent, [tensor()], [tensor()])
    return dump


def places():
    dump = backward_net()
    dump.construct["Module.net.fc1.Linear.backward.0"] = None
    case("build/backward_without_parent", "goes under the backward of its forward's parent", BUILD,
         {"npu": dump})
    dump = backward_net()
    dump.construct["Module.net.fc1.Linear.backward.0"] = "Module.net.fc2.Linear.backward.0"
    case("build/backward_wrong_parent", "a parent whose path is no prefix is not believed", BUILD,
         {"npu": dump})
    dump = small()
    dump.forward("Torch.lost.0.forward", "Module.gone.X.forward.0", [tensor()], [tensor()])
    dump.loose("Torch.late.0.forward", input_args=[tensor()], input_kwargs={}, output=[tensor()])
    case("build/unplaced", "unknown parents and unnamed records go under Unplaced, counted", BUILD,
         {"npu": dump})
    dump = small()
    dump.forward("Module.a.A.forward.0", "Module.b.B.forward.0", [tensor()], [tensor()])
    dump.forward("Module.b.B.forward.0", "Module.a.A.forward.0", [tensor()], [tensor()])
    case("build/cycle", "parents in a circle go under Unplaced", BUILD, {"npu": dump})
    dump = backward_net()
    dump.loose("Module.net.fc1.Linear.parameters_grad", weight=[tensor()], bias=[tensor()])
    case("build/parameters_grad", "goes under the last backward of its module", BUILD,
         {"npu": dump}, values=["Module.net.fc1.Linear.parameters_grad"])
    dump = Dump()
    for k in range(3):
        dump.forward(f"Torch.add.{k}.forward", None, [tensor()], [tensor()])
    dump.forward(NET, None, [tensor()], [tensor()])
    dump.forward("Torch.sum.0.forward", None, [tensor()], [tensor()])
    case("build/between_modules", "two or more APIs at the root are wrapped, a single one is not",
         BUILD, {"npu": dump})
    dump = small()
    for k in range(2):
        dump.forward(f"MyOps.fused.{k}.forward", FC1, [tensor()], [tensor()])
    case("build/unknown_prefix", "another prefix is an API, one warning per prefix", BUILD,
         {"npu": dump})
    checkpoint = [*frames(5, "x = self.layer(x)"),
                  "File /usr/lib/python3/site-packages/torch/utils/checkpoint.py, line 300, in "
                  "recompute_fn, \n fn(*args, **kwargs)"]
    dump = Dump()
    dump.forward("Module.layer.Layer.forward.0", None, [tensor()], [tensor()],
                 stack=frames(5, "x = self.layer(x)"))
    dump.backward("Module.head.Head.backward.0", None, [tensor()], [tensor()])
    dump.forward("Module.layer.Layer.forward.1", None, [tensor()], [tensor()], stack=checkpoint)
    dump.backward("Module.layer.Layer.backward.1", None, [tensor()], [tensor()])
    case("build/recompute", "a recomputed forward moves under the matching backward", BUILD,
         {"npu": dump})


def values_and_stacks():
    dump = Dump()
    dump.forward("Torch.cat.0.forward", None, [[tensor(), tensor(2.0)], None], [tensor()],
                 dim=scalar(1), flag=scalar(True), label=scalar("é"))
    case("build/values", "lists, keywords, scalars, null", BUILD, {"npu": dump}, values="all")
    dump = small()
    dump.texts["stack.json"] = (
        '{"0": [["%s", "%s"], ["File /u/m.py, line 3, in f, \\n y = self.net(x)"]]}' % (NET, FC2))
    case("build/stack_groups", "stack.json in groups of names", BUILD, {"npu": dump},
         values=[NET, FC1, FC2])
    dump = Dump()
    dump.forward("Module.net.fc1.Linear.forward.0", None, [tensor()], [tensor()], stack=[
        "File /usr/lib/python3/site-packages/torch/nn/modules/module.py, line 15, in _call_impl, "
        "\n return forward_call(*args)",
        "File /home/user/model.py, line 7, in forward, \n x = self.fc1(x)"])
    case("build/stack_line", "without -cs one line: the first that calls the module's attribute",
         [BUILD], {"npu": dump}, values="all")


def steps_and_overflow():
    dump = Dump()
    for k in range(2):
        dump.forward(f"Torch.add.{k}.forward", None, [tensor()], [tensor()])
        dump.forward(f"Module.net.Net.forward.{k}", None, [tensor()], [tensor()])
        dump.backward(f"Module.net.Net.backward.{k}", None, [tensor()], [tensor()])
    case("build/micro_steps", "APIs in front of a module belong to the new micro step", BUILD,
         {"npu": dump})
    dump = Dump()
    for k in range(2):
        dump.forward(f"Module.net.Net.forward.{k}", None, [tensor()], [tensor()])
        dump.forward(f"Torch.add.{k}.forward", f"Module.net.Net.forward.{k}", [tensor()],
                     [tensor()])
    dump.construct = {name: [parent, int(name.split(".forward")[-1].strip(".") or
                                         name.split(".")[2])]
                      for name, parent in dump.construct.items()}
    dump.construct["megatron_micro_step_number"] = 2
    case("build/micro_step_lists", "[parent, micro_step] with megatron_micro_step_number", BUILD,
         {"npu": dump})
    dump = Dump()
    bad = {"Max": NAN, "Min": NAN, "Mean": NAN, "Norm": NAN}
    good, wrong = tensor(), tensor(**bad)
    for name, inputs, outputs in (("fine", good, good), ("critical", good, wrong),
                                  ("high", wrong, wrong), ("medium", wrong, good),
                                  ("grown", good, tensor(101.0)), ("large", good, tensor(99.0)),
                                  ("nested", [[good, wrong]], good),
                                  ("infinite", good, tensor(Max=float("inf"))),
                                  ("empty_like", good, wrong)):
        dump.forward(f"Torch.{name}.0.forward", None, [inputs], [outputs])
    case("build/overflow", "-oc: critical, high, medium; grown norm; placeholders are exempt",
         BUILD + " -oc", {"npu": dump})
    case("build/overflow_off", "without -oc no level is written", BUILD, {"npu": dump})


def make():
    places()
    values_and_stacks()
    steps_and_overflow()
