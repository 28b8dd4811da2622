"""--match auto: what pairs without names, and what stays unmatched with which reason."""
from .builder import BOTH, Dump, case, frames, tensor

AUTO = BOTH + " --match auto"


def weight(*shape):
    return {"weight": tensor(shape=shape)}


class Model:
    """Modules of a model in the order in which they run; `put` nests by the path."""

    def __init__(self):
        self.dump = Dump()
        self.calls = {}
        self.parents = {}

    def put(self, path, class_name, inside=None, take=(2, 8), give=(2, 8), weights=None, value=1.0):
        name = f"Module.{path}.{class_name}.forward.0"
        self.parents[path] = name
        self.dump.forward(name, self.parents.get(inside), [tensor(value, take)],
                          [tensor(value, give)], parameters=weights)
        return self

    def api(self, api, inside, take=(2, 8), give=(2, 8), value=1.0, line=10):
        call = self.calls.get(api, -1) + 1
        self.calls[api] = call
        self.dump.forward(f"{api}.{call}.forward", self.parents[inside], [tensor(value, take)],
                          [tensor(value, give)], stack=frames(line, "y = f(x)"))
        return self


def block(model, layer, inside, fused=False, classes=("Linear", "RMSNorm", "Attention", "Block"),
          names=("norm", "attn", "out")):
    linear, norm, attention, whole = classes
    base = f"{inside}.{layer}" if inside else str(layer)
    model.put(base, whole, inside if inside in model.parents else None)
    model.put(f"{base}.{names[0]}", norm, base, weights=weight(8))
    attn = f"{base}.{names[1]}"
    model.put(attn, attention, base)
    if fused:
        model.put(f"{attn}.qkv", linear, attn, give=(2, 24), weights=weight(24, 8))
    else:
        for part in "qkv":
            model.put(f"{attn}.{part}", linear, attn, weights=weight(8, 8))
    model.put(f"{attn}.{names[2]}", linear, attn, weights=weight(8, 8))
    return model


def fused():
    split = block(Model(), "layers.0", "")
    whole = block(Model(), "decoder.0", "", True,
                  ("ColumnParallelLinear", "FusedRMSNorm", "SelfAttention", "TransformerLayer"),
                  ("ln", "self_attention", "proj"))
    case("match/auto_fused", "auto: q, k, v against one projection are a group, all else pairs",
         [AUTO, "msprobe compare -tp npu -gp bench -o out --match auto --format csv"],
         {"npu": split.dump, "bench": whole.dump})


def wrappers():
    plain = block(Model(), "h.0", "")
    wrapped = Model()
    wrapped.put("module", "DistributedDataParallel")
    wrapped.put("module.module", "Float16Module", "module")
    block(wrapped, "h.0", "module.module")
    case("match/auto_wrappers", "auto: classes that only pass calls on are looked through", AUTO,
         {"npu": wrapped.dump, "bench": plain.dump})


def calls():
    first, second = Model(), Model()
    for model, offset in ((first, 0), (second, 3)):
        model.calls = {"Torch.add": offset - 1, "Torch.relu": offset - 1}
        model.put("net", "Net", weights=weight(8))
        model.api("Torch.add", "net").api("Torch.relu", "net", value=2.0).api("Torch.add", "net", value=3.0)
    case("match/auto_calls", "auto: call numbers that are off do not matter", AUTO,
         {"npu": first.dump, "bench": second.dump})


def ambiguous():
    three, two = Model(), Model()
    for model, count in ((three, 3), (two, 2)):
        model.put("net", "Net", weights=weight(8))
        for _ in range(count):
            model.api("Functional.dropout", "net")
    case("match/auto_ambiguous", "auto: three alike against two are not guessed", AUTO,
         {"npu": three.dump, "bench": two.dump})


def missing_layer():
    four, three = Model(), Model()
    for model, count in ((four, 4), (three, 3)):
        for layer in range(count):
            block(model, f"layers.{layer}", "")
        model.put("norm", "RMSNorm", weights=weight(8))
    case("match/auto_missing_layer",
         "auto: layers pair by number; the norm at the end is not taken for one in a layer", AUTO,
         {"npu": three.dump, "bench": four.dump})


def other_kind():
    silu, gelu = Model(), Model()
    for model, class_name in ((silu, "SiLU"), (gelu, "GELU")):
        model.put("net", "Net", weights=weight(8))
        model.put("net.act", class_name, "net")
        model.put("net.fc", "Linear", "net", weights=weight(8, 8))
    case("match/auto_other_kind", "auto: two classes known to do different things never pair", AUTO,
         {"npu": silu.dump, "bench": gelu.dump})
    case("match/auto_with_rules", "--match auto takes no -f and no -lm",
         [AUTO + " -f", AUTO + " -lm map.yaml"], {"npu": silu.dump, "bench": gelu.dump})


def other_tools():
    line = "msprobe graph_visualize -tp npu -o out"
    case("usage/options_of_other_tools", "options for merging ranks name what to do instead",
         [f"{line} {option} 8" for option in ("--rank_size", "--tp", "--vpp", "--order")] +
         [line + " --file_type db"], {"npu": block(Model(), "layers.0", "").dump})


def make():
    for write in (fused, wrappers, calls, ambiguous, missing_layer, other_kind, other_tools):
        write()
