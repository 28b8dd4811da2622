"""Which nodes pair: strict, loose, fuzzy, layer mapping."""
from .builder import BOTH, FC1, FC2, NET, Dump, case, small, tensor

RELU = "Functional.relu.0.forward"
LOOSE = BOTH + " --match loose"


def renamed(dump, old, new):
    for part in (dump.data, dump.construct, dump.stack):
        items = [(new if name == old else name, value) for name, value in part.items()]
        part.clear()
        part.update(items)
    for name, parent in dump.construct.items():
        if parent == old:
            dump.construct[name] = new
    return dump


def differences():
    other_count = small()
    other_count.data[RELU]["output"].append(tensor())
    moved = small()
    moved.construct[RELU] = FC1
    pairs = {
        "shape": small(out={RELU: tensor(shape=(3, 2))}),
        "type": small(out={RELU: {**tensor(), "type": "torch.nn.Parameter"}}),
        "count": other_count,
        "dtype": small(out={RELU: tensor(dtype="torch.float16")}),
        "parent": moved,
        "name": renamed(small(), RELU, "Functional.gelu.0.forward"),
    }
    for what, golden in pairs.items():
        files = {"npu": small(), "bench": golden}
        case(f"match/strict_{what}", f"strict: other {what}", BOTH, files, values=[RELU])
        case(f"match/loose_{what}", f"loose: other {what}", LOOSE, files, values=[RELU])
    missing = small()
    for part in (missing.data, missing.construct, missing.stack):
        for name in (FC2, "Functional.linear.1.forward"):
            part.pop(name)
    case("match/missing_module", "a module and its API on one side only", BOTH,
         {"npu": small(), "bench": missing})


def fuzzy():
    shifted = renamed(small(), "Functional.linear.1.forward", "Functional.linear.5.forward")
    files = {"npu": small(), "bench": shifted}
    case("match/fuzzy", "fuzzy: APIs of a module pair whatever their call number",
         [BOTH, BOTH + " -f"], files)
    several = [Dump(), Dump()]
    for dump, first in zip(several, (0, 4)):
        dump.forward(NET, None, [tensor()], [tensor()])
        for k in range(first, first + 3):
            dump.forward(f"Torch.add.{k}.forward", NET, [tensor(k - first + 1)],
                         [tensor(k - first + 1)])
    case("match/fuzzy_order", "fuzzy: the k-th call pairs with the k-th call", BOTH + " -f",
         {"npu": several[0], "bench": several[1]})
    case("match/fuzzy_shape", "fuzzy: shapes must still be equal", BOTH + " -f",
         {"npu": small(), "bench": small(out={RELU: tensor(shape=(6,))})})


def mapping():
    def net(first, second, class_name="Linear"):
        dump = Dump()
        dump.forward(NET, None, [tensor()], [tensor()])
        for k, path in enumerate((first, second)):
            module = f"Module.net.{path}.{class_name}.forward.0"
            dump.forward(module, NET, [tensor()], [tensor()])
            dump.forward(f"Functional.linear.{k}.forward", module, [tensor()], [tensor()])
        return dump

    files = {"npu": net("fc1", "head.out"), "bench": net("dense", "top")}
    case("match/mapping", "-lm: names of one module's children, one and two levels",
         BOTH + " -lm map.yaml",
         {**files, "map.yaml": "Net:\n  fc1: dense\n  head.out: top\n"})
    case("match/mapping_unused", "-lm: rules that fit no pair of modules are told, others are not",
         [BOTH + " -lm map.yaml", BOTH + " -f -lm map.yaml"],
         {**files, "map.yaml": "Net:\n  head.out: top\n  fc1: dence\n  fc3: dense\nLinaer:\n  a: b\n"})
    case("match/mapping_longest", "-lm: the longest key comes first", BOTH + " -lm map.yaml",
         {"npu": net("a", "a.b"), "bench": net("x", "y"), "map.yaml": "Net:\n  a: x\n  a.b: y\n"})
    top = renamed(net("fc1", "fc2"), NET, "Module.other.Net.forward.0")
    for name in list(top.data):
        if name.startswith("Module.net."):
            renamed(top, name, name.replace("Module.net.", "Module.other."))
    case("match/mapping_top", "-lm: TopLayer maps modules at the root", BOTH + " -lm map.yaml",
         {"npu": net("fc1", "fc2"), "bench": top, "map.yaml": "TopLayer:\n  net: other\n"})
    other_shape = net("dense", "top")
    other_shape.data["Module.net.dense.Linear.forward.0"]["output"] = [tensor(shape=(3, 2))]
    case("match/mapping_shape", "-lm: type and shape of a mapped pair are ignored",
         BOTH + " -lm map.yaml",
         {"npu": net("fc1", "head.out"), "bench": other_shape,
          "map.yaml": "Net:\n  fc1: dense\n  head.out: top\n"})
    fuzzy_golden = renamed(net("dense", "top"), "Functional.linear.1.forward",
                           "Functional.linear.6.forward")
    case("match/mapping_and_fuzzy", "-f with -lm: both take effect", BOTH + " -f -lm map.yaml",
         {"npu": net("fc1", "top"), "bench": fuzzy_golden, "map.yaml": "Net: {fc1: dense}\n"})
    case("match/bare_mapping", "bare -lm: only class names may differ",
         ["msprobe graph_visualize -tp npu -gp bench -o out -lm --format vis",
          "msprobe graph_visualize -tp npu -gp bench -o out --format vis"],
         {"npu": net("a", "b"), "bench": net("a", "b", "RowParallelLinear")})
    for name, summary, text in (
            ("broken", "broken yaml names the line", "Net:\n  fc1: [dense\n"),
            ("list", "yaml of another structure", "- Net\n"),
            ("two_documents", "no rule is left out unsaid", "Net:\n  fc1: dense\n---\nOther:\n  a: b\n"),
            ("deep", "yaml of 5000 levels", "Net: " + "[" * 5000),
            ("value", "a class must hold pairs", "Net: fc1\n")):
        case(f"match/mapping_{name}", summary, BOTH + " -lm map.yaml",
             {**files, "map.yaml": text})
    case("match/mapping_missing", "a mapping file that does not exist", BOTH + " -lm map.yaml",
         files)


def make():
    differences()
    fuzzy()
    mapping()
