"""Culprits over several ranks, and what counts as rounding: profiles, a reference, learning."""
from .builder import BOTH, FC1, NET, Dump, case, frames, scalar, small, stored, tensor

COMPARE = "msprobe compare npu bench"
RELU = "Functional.relu.0.forward"
ADD, REDUCE, MUL = "Torch.add.0.forward", "Distributed.all_reduce.0.forward", "Torch.mul.0.forward"
KEY = "Module.key.Linear.forward.0"
SAME = {"npu": small(), "bench": small()}


def group(*ranks):
    return {"type": "torch.ProcessGroup", "group_ranks": list(ranks), "group_id": "g"}


def rank(add=1.0, summed=1.0, mul=1.0, members=(0, 1)):
    """x → add → all_reduce → mul: what each gives; every tensor has a size of its own."""
    dump = Dump()
    give = {"group": group(*members)} if members else {}
    dump.forward(ADD, None, [tensor()], [tensor(3 * add)], stack=frames(3, "h = x + b"))
    dump.forward(REDUCE, None, [tensor(3 * add)], [tensor(5 * summed)],
                 stack=frames(4, "dist.all_reduce(h, group=g)"), **give)
    dump.forward(MUL, None, [tensor(5 * summed)], [tensor(7 * summed * mul)],
                 stack=frames(5, "y = h * s"))
    return dump


def sides(*target, **options):
    files = {f"npu/step0/rank{r}": rank(*values, **options) for r, values in enumerate(target)}
    return files | {f"bench/step0/rank{r}": rank(**options) for r in range(len(target))}


def ranks():
    case("locate/other_rank", "what a collective brings is a victim of the rank that put it in",
         [COMPARE, COMPARE + " --json", BOTH + " --json", COMPARE + " --fail-on culprit"],
         sides((1.0, 1.25), (1.5, 1.25)))
    case("locate/earlier_rank", "what lies behind fewer collectives comes first",
         [COMPARE, BOTH + " --json"], sides((1.0, 1.0, 1.5), (1.5, 1.0)))
    case("locate/collective", "all put in what golden's put in: the collective is the culprit",
         [COMPARE, COMPARE + " --fail-on culprit"], sides((1.0, 1.5), (1.0, 1.5)))
    case("locate/collective_unknown_group", "who takes part is not recorded: nobody is blamed",
         [COMPARE, COMPARE + " --fail-on culprit"], sides((1.0, 1.5), (1.0, 1.5), members=()))
    case("locate/collective_one_rank", "the other rank was not dumped: look there",
         COMPARE, {"npu": rank(1.0, 1.5), "bench": rank()})
    files = sides((1.0, 1.5), (1.5, 1.5))
    steps = {path.replace("step0", f"step{s}"): dump for path, dump in files.items()
             for s in (1, 2)}
    steps |= {f"{side}/step0/rank{r}": rank() for side in ("npu", "bench") for r in (0, 1)}
    case("locate/first_step", "of several steps the first that diverges comes first", COMPARE, steps)
    case("locate/ranks_html", "the page says on which rank the culprit is",
         COMPARE + " -o out --format html", sides((1.0, 1.25), (1.5, 1.25)))
    case("locate/ranks_query", "SQL: whose victim, on which rank",
         "msprobe query npu \"select rank, name, role, culprit, culprit_rank from diverged\" -gp bench",
         sides((1.0, 1.25), (1.5, 1.25)))


def later_steps():
    """Step 1 differs from its first node on, step 2 in its weights: what the optimizer made of it."""
    def step(weight=1.0, given=1.0, made=1.0):
        dump = Dump()
        names = [f"Module.net.{k}.Linear.forward.0" for k in range(2)]
        for k, name in enumerate(names):
            dump.forward(name, None, [tensor(3 * given, (2, 3 + k))], [tensor(5 * made, (3, 3 + k))],
                         {"weight": tensor(7 * weight, (4, 3 + k))}, stack=frames(k, "x = self.fc(x)"))
        return dump

    def run(target):
        return {f"{side}/step{s}/rank0": step(**(target[s] if side == "npu" else {}))
                for side in ("npu", "bench") for s in range(3)}

    drawn = {"given": 1.5, "made": 1.5}
    case("locate/culprit_of_later_step",
         "a step that differs without a culprit comes before the weights of a later one: a consequence",
         [COMPARE, COMPARE + " --json", BOTH + " --json", COMPARE + " -o out2 --format html",
          COMPARE + " --fail-on culprit --junit out/junit.xml",
          "msprobe query npu \"select place, step, name, reason from culprits\" -gp bench"],
         run([{}, drawn, {"weight": 1.5, "made": 1.5}]), prepare=["mkdir out out2"])
    files = run([{}, {"weight": 1.5, "made": 1.5}, {"weight": 2.0, "made": 2.0}])
    late = files["npu/step2/rank0"]
    late.forward(MUL, None, [tensor(9.0)], [tensor(12.0)], stack=frames(9, "y = h * s"))
    files["bench/step2/rank0"].forward(MUL, None, [tensor(9.0)], [tensor(9.0)])
    case("locate/consequences_last", "a culprit of a later step comes before weights that are a consequence",
         [COMPARE, COMPARE + " --json"], files)


def moved_parameters():
    """Two passes in one step: what the first does wrong moves the weights of the second."""
    def passes(first=1.0, weight=1.0, last=1.0):
        dump = Dump()
        for call, moved in enumerate((1.0, weight)):
            dump.forward(f"Module.fc.Linear.forward.{call}", None, [tensor(3.0, (2, 3))],
                         [tensor((5.0 + call) * moved, (4, 3))], {"weight": tensor(7.0 * moved, (4, 3))},
                         stack=frames(call, "x = self.fc(x)"))
            if call == 0:
                dump.forward(MUL, None, [tensor(9.0)], [tensor(10.0 * first)], stack=frames(8, "y = h * s"))
        dump.forward(ADD, None, [tensor(11.0)], [tensor(12.0 * last)], stack=frames(9, "y = h + b"))
        return dump

    case("locate/moved_parameters", "weights that agree in an earlier call of the step are a consequence: they come last",
         [COMPARE, COMPARE + " --json"], {"npu": passes(1.5, 1.25, 2.0), "bench": passes()})


def arguments():
    """A scalar that golden does not give, the same data, and an error that rounding would explain."""
    def call(approximate, made, scale=0.25):
        dump = Dump()
        give = {"shape": (2, 3), "dtype": "torch.bfloat16"}
        dump.forward("Functional.gelu.0.forward", None, [tensor(1.0, **give)], [tensor(made, **give)],
                     approximate=scalar(approximate), stack=frames(7, "y = F.gelu(x)"))
        dump.forward(MUL, None, [tensor(5.0), scalar(scale)], [tensor(5.0 * (1 + scale / 1e5))],
                     stack=frames(8, "y = x * s"))
        return dump

    case("locate/argument", "another scalar argument is the culprit, however small the error is that it makes",
         [COMPARE, BOTH + " --json", "msprobe compare number bench", "msprobe compare equal bench"],
         {"npu": call("tanh", 1.001), "bench": call("none", 1.0), "number": call("none", 1.0, 0.5),
          "equal": call("tanh", 1.0)})

    def unpaired(parent, made):
        dump = Dump()
        dump.forward("Torch.source.0.forward", None, [tensor(2.0)], [tensor(20.0)])
        for name in ("a", "b"):
            dump.forward(f"Module.{name}.Net.forward.0", None, [tensor(2.0, (2, 2))], [tensor(3.0, (2, 4))])
        for k in range(12):
            dump.forward(f"Torch.extra.{k}.forward", f"Module.{parent}.Net.forward.0", [tensor(20.0)],
                         [tensor(40.0 + k)], stack=frames(k, "y = extra(x)"))
        took = 40.0 if parent == "a" else 20.0
        dump.forward("Torch.add.0.forward", None, [tensor(took)], [tensor(made)])
        return dump

    case("locate/unpaired_name", "a culprit without a partner whose name golden has elsewhere",
         COMPARE, {"npu": unpaired("a", 60.0), "bench": unpaired("b", 90.0)})


def profiles():
    """1 % off, where the default for float32 allows 0.01 %."""
    bad = {"npu": small(out={RELU: 1.01}), "bench": small()}
    run = COMPARE + " --fail-on culprit --tolerance "
    rule = "rules:\n- {name: \"%s\", bound: %s}\n"
    texts = {"exact.yaml": rule % (RELU, "2.0e-2"), "place.yaml": rule % ("Functional.relu.*.forward", "2e-2"),
             "wild.yaml": rule % ("Fun*.relu.?.*", "2e-2"), "narrow.yaml": rule % (RELU, "1.0e-3"),
             "other.yaml": rule % ("Functional.gelu.*", "2e-2"),
             "first.yaml": rule % ("*relu*", "1e-3") + f"- {{name: {RELU}, bound: 1}}\n",
             "typos.yaml": "rules:\n" + "".join(f"- {{name: {k}*, bound: 1}}\n" for k in "abcde")}
    case("tolerance/rules", "a rule's bound holds for the names that fit; the first that fits decides",
         [run + name for name in texts], {**bad, **texts})
    alone = small().forward("Torch.alone.0.forward", NET, [tensor(1.0)], [tensor(1.0)])
    alone.forward("Torch.alike.0.forward", NET, [tensor(1.0)], [tensor(1.0)])
    alike = small().forward("Torch.alike.0.forward", NET, [tensor(1.0)], [tensor(1.0)])
    first = small().forward("Torch.first.0.forward", NET, [tensor(1.0)], [tensor(1.0)])
    case("tolerance/unused_rules", "told are rules that no rank needs: for a name without a partner, not for one of another rank",
         ["msprobe compare npu bench --tolerance t.yaml"],
         {"npu/rank0": first, "bench/rank0": first, "npu/rank1": alone, "bench/rank1": alike,
          "t.yaml": "rules:\n" + "".join(f"- {{name: {name}, bound: 1}}\n"
                                         for name in ("Torch.alone.*", "Torch.alike.*", "Torch.first.*"))})
    case("tolerance/unused_long_rule", "of a pattern without end only the beginning is told",
         ["msprobe compare npu bench --tolerance t.yaml"],
         {"npu": first, "bench": first, "t.yaml": "rules:\n- {name: " + "é" * 500 + ", bound: 1}\n"})
    case("tolerance/roundings", "roundings of a dtype, in place of the default",
         [run + name for name in ("many.yaml", "few.yaml", "half.yaml")],
         {**bad, "many.yaml": "roundings: {float32: 2.0e+5}\n",
          "few.yaml": "roundings: {float32: 10}\n", "half.yaml": "roundings: {bfloat16: 1000}\n"})
    case("tolerance/indices_stay", "a profile decides roles; indices and bands stay",
         [BOTH + " --json", BOTH + " --json --tolerance wide.yaml"],
         {**bad, "wide.yaml": rule % ("*", "1")})
    for name, summary, text in (
            ("broken", "broken yaml", "rules: [\n"), ("empty", "nothing in it", ""),
            ("other_top", "another key at the top", "rulez: []\n"),
            ("no_list", "rules that are no list", "rules: 5\n"),
            ("no_bound", "a rule without a bound", "rules:\n- {name: a}\n"),
            ("bad_bound", "a bound that is no number", "rules:\n- {name: a, bound: much}\n"),
            ("negative", "a bound below 0", "rules:\n- {name: a, bound: -1}\n"),
            ("other_key", "a rule with another key", "rules:\n- {name: a, bound: 1, why: b}\n"),
            ("doubled_key", "a key that stands twice", "rules:\n- {name: a, bound: 1, bound: 2}\n"),
            ("no_dtype", "roundings of what does not round", "roundings: {int32: 1}\n")):
        case(f"tolerance/{name}", f"profile: {summary} is named with its line",
             COMPARE + " --tolerance t.yaml", {**SAME, "t.yaml": text})
    case("tolerance/missing", "a profile that does not exist", COMPARE + " --tolerance no.yaml", SAME)


def learning():
    one, two = small(out={RELU: 1.004}), small()
    learn = "msprobe tolerance npu bench -o out/t.yaml"
    case("tolerance/learn", "learned from two good runs: twice the largest error at each place",
         [learn, "msprobe tolerance npu bench -o out/wide.yaml --margin 10"], {"npu": one, "bench": two},
         prepare=["mkdir out out2"])
    made = ["$MSPROBE tolerance npu bench -o t.yaml >/dev/null 2>/dev/null"]
    run = " --tolerance t.yaml --fail-on culprit"
    case("tolerance/learned_holds", "with what was learned, such an error is none, a larger one is",
         [COMPARE + " --fail-on culprit", COMPARE + run, "msprobe compare worse bench" + run],
         {"npu": one, "bench": two, "worse": small(out={RELU: 1.02})}, prepare=made)

    def noisy(order=1.0, bias=1.0, made=1.0, ids=4.0):
        """What is not rounding and yet right: an order drawn at random, a bias without a gradient."""
        dump = Dump()
        whole = {"dtype": "torch.int64", "Max": 9, "Min": 0}
        dump.forward("Torch.randperm.0.forward", None, [],
                     [tensor(Mean=order, Norm=8.0 * order, **whole)])
        dump.forward(KEY, None, [tensor()], [tensor(made)], parameters={"bias": tensor(bias)})
        dump.forward("Functional.embedding.0.forward", None, [tensor(Mean=ids, Norm=16.0, **whole)],
                     [tensor()])
        return dump

    renamed = Dump()
    for name in two.data:
        other = name.replace(".fc1.", ".first.")
        renamed.data[other], renamed.stack[other] = two.data[name], two.stack[name]
        parent = two.construct[name]
        renamed.construct[other] = parent and parent.replace(".fc1.", ".first.")
    case("tolerance/learn_pairing", "learned from runs whose names differ: pairs as compare makes them, on one thread",
         ["msprobe tolerance npu renamed -o out/t.yaml -j 1", "msprobe tolerance npu renamed -o out/m.yaml -lm map.yaml",
          "msprobe tolerance npu renamed -o out/a.yaml --match auto",
          "msprobe tolerance npu renamed -o out/s.yaml --match strict -fm -j 2",
          "msprobe tolerance npu renamed -o out/x.yaml -j 0",
          "msprobe tolerance npu renamed -o out/x.yaml -lm none.yaml"],
         {"npu": one, "renamed": renamed, "map.yaml": "Net: {fc1: first}\n"}, prepare=["mkdir out"])
    case("tolerance/learned_noise", "whole numbers and parameters that are noise are learned; the rest stays",
         ["msprobe tolerance npu bench -o out/t.yaml", COMPARE + " --fail-on culprit", COMPARE + run] +
         [f"msprobe compare {name} bench" + run for name in ("made", "ids")],
         {"npu": noisy(order=3.0, bias=2.0), "bench": noisy(), "made": noisy(made=1.1),
          "ids": noisy(ids=4.0000001)}, prepare=["mkdir out", *made])
    rule = "rules:\n- {name: \"Torch.randperm.*\", bound: %s}\n"
    case("tolerance/whole_numbers", "a rule decides about whole numbers as well",
         [COMPARE + f" --fail-on culprit --tolerance {name}.yaml" for name in ("wide", "narrow", "exact")],
         {"npu": noisy(order=3.0), "bench": noisy(), "wide.yaml": rule % "5", "narrow.yaml": rule % "0.5",
          "exact.yaml": rule % "5, integers: 0"})
    checked = small(out={RELU: tensor(md5="00000001")})
    for entry in checked.data.values():
        for value in entry["input_args"] + entry["output"]:
            value.setdefault("md5", "0badc0de")
    case("tolerance/learn_errors", "what cannot be learned from, or written",
         ["msprobe tolerance npu", "msprobe tolerance npu bench", "msprobe tolerance npu none -o out/t.yaml",
          "msprobe tolerance npu bench -o there.yaml", "msprobe tolerance npu bench -o /proc/none/t.yaml",
          "msprobe tolerance md5 md5 -o out/t.yaml",
          learn + " --margin 0.5", "msprobe tolerance structure structure -o out/t.yaml"],
         {"npu": one, "bench": two, "md5": checked, "structure": small(task="structure"),
          "there.yaml": "rules: []\n"}, prepare=["mkdir out out3 out6 out7 out8"])


def learned_arguments():
    made = ["$MSPROBE tolerance npu bench -o t.yaml >/dev/null 2>/dev/null"]
    run = " --tolerance t.yaml --fail-on culprit"

    def called(approximate, made=1.0):
        dump = Dump()
        dump.forward("Functional.gelu.0.forward", None, [tensor(), scalar(approximate)],
                     [tensor(made)])
        return dump

    case("tolerance/learned_arguments", "a scalar argument that differed is learned; the bound holds all the same",
         ["msprobe tolerance npu bench -o out/t.yaml", COMPARE + " --fail-on culprit", COMPARE + run,
          "msprobe compare worse bench" + run],
         {"npu": called("tanh", 1.001), "bench": called("none"), "worse": called("tanh", 1.1)},
         prepare=["mkdir out", *made])


def references():
    """The low-precision golden is 1 % off the reference; the target may be 3 times as far."""
    run = " --reference high --fail-on culprit"
    files = {"high": small(), "bench": small(out={RELU: 1.01}), "near": small(out={RELU: 0.98}),
             "far": small(out={RELU: 1.05})}
    case("tolerance/reference", "three-way: the target is judged by the error that golden makes",
         ["msprobe compare near bench --fail-on culprit", "msprobe compare near bench" + run,
          "msprobe compare far bench" + run, "msprobe graph far bench -o out" + run], files)
    case("tolerance/reference_rule", "a rule of the user comes before the reference",
         "msprobe compare far bench --tolerance t.yaml" + run,
         {**files, "t.yaml": f"rules:\n- {{name: {RELU}, bound: 0.1}}\n"})


    def renamed(dump, names):
        """Other names for some nodes."""
        for part in (dump.data, dump.construct, dump.stack):
            for name, other in names.items():
                part[other] = part.pop(name)
        for name, parent in dump.construct.items():
            dump.construct[name] = names.get(parent, parent)
        return dump

    # Golden's error at relu belongs to the target's relu, whatever that is called.
    numbers = {RELU: "Functional.relu.7.forward"}
    paths = {FC1: FC1.replace("fc1", "dense1")}
    noisy = {RELU: 1.01, FC1: 1.01}
    other = {"high": small(), "bench": small(out=noisy)}
    case("tolerance/reference_fuzzy", "three-way, -fm: golden's error counts for its partner",
         [f"msprobe compare {name} bench -fm" + run for name in ("near", "far")],
         {**other, "near": renamed(small(out={RELU: 0.98}), numbers),
          "far": renamed(small(out={RELU: 1.05}), numbers)})
    case("tolerance/reference_mapping", "three-way, -lm: the reference is named as golden is",
         [f"msprobe compare {name} bench -lm map.yaml" + run for name in ("near", "far")],
         {**other, "near": renamed(small(out={FC1: 0.98}), paths),
          "far": renamed(small(out={FC1: 1.05}), paths), "map.yaml": "Net:\n  dense1: fc1\n"})
    strange = Dump().forward("Torch.other.0.forward", None, [tensor()], [tensor()])
    case("tolerance/reference_unpaired", "a reference that has no node in common is an error",
         "msprobe compare near bench --reference strange",
         {"near": small(), "bench": small(), "strange": strange})
    checked = {}
    for side, text in (("npu", "00000001"), ("bench", "00000002"), ("high", "00000003")):
        checked[side] = small()
        for entry in checked[side].data.values():
            for value in entry["input_args"] + entry["output"]:
                value["md5"] = text
    case("tolerance/reference_errors", "a reference that says nothing, or has nothing to stand beside",
         [COMPARE + " --reference high", "msprobe graph npu -o out --reference high",
          COMPARE + " --reference none"], checked)
    ranks = {f"{side}/rank{rank}": small() for side in ("npu", "bench") for rank in (0, 1)}
    ranks |= {"high/rank0": small(), "structure/rank0": small(task="structure"),
              "structure/rank1": small(task="structure")}
    case("tolerance/reference_other_dumps", "a reference that does not fit the target is named as such",
         [COMPARE + " --reference high", COMPARE + " --reference high/rank0",
          COMPARE + " --reference structure -j 1"], ranks)


def ulps():
    near, far = Dump(task="tensor"), Dump(task="tensor")
    step = 2.0 ** -23
    for dump, values in ((near, [1.0 + step, 1.0 + 3 * step, 1.0, 2.0]), (far, [1.0, 1.0, 1.0, 1.0])):
        dump.forward(MUL, None, [stored(dump, "i.npy", [1.0, 2.0, -3.0, 0.5])],
                     [stored(dump, "o.npy", values)])
        dump.forward("Torch.argmax.0.forward", None, [],
                     [stored(dump, "w.npy", [1, 2], "torch.int64", "<i8")])
    case("table/ulps", "real data: how many elements are how many units in the last place apart",
         COMPARE + " -o out --format csv,json", {"npu": near, "bench": far})


def make():
    ranks()
    later_steps()
    moved_parameters()
    arguments()
    profiles()
    learning()
    learned_arguments()
    references()
    ulps()
