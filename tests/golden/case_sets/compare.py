"""What is compared and how it is judged; special values."""
from .builder import BOTH, Dump, case, floats, scalar, small, stored, tensor

NAN, INF = float("nan"), float("inf")
RELU = "Functional.relu.0.forward"


def of(value):
    """A tensor whose four statistics are `value`; None: recorded as null."""
    return tensor(Max=value, Min=value, Mean=value, Norm=value)


SPECIAL = {
    "nan_finite": (of(NAN), of(1.0)), "finite_nan": (of(1.0), of(NAN)),
    "nan_nan": (of(NAN), of(NAN)), "inf_finite": (of(INF), of(1.0)),
    "inf_minus_inf": (of(INF), of(-INF)), "inf_inf": (of(INF), of(INF)),
    "one_zero": (of(1.0), of(0.0)), "zero_zero": (of(0.0), of(0.0)),
    "thousand_zero": (of(1000.0), of(0.0)), "null_one": (of(None), of(1.0)),
    "one_null": (of(1.0), of(None)), "sign": (tensor(), tensor(Max=1.0, Min=-2.0, Mean=-0.5)),
    "scalar_0d": (tensor(1.0, ()), tensor(1.1, ())), "one_element": (tensor(1.0, (1,)),
                                                                     tensor(1.1, (1,))),
    "no_elements": (tensor(shape=(0,), Max=None, Min=None, Mean=None, Norm=None),) * 2,
    "bools": (tensor(dtype="torch.bool", Max=True, Min=False, Mean=None, Norm=None),
              tensor(dtype="torch.bool", Max=True, Min=True, Mean=None, Norm=None)),
    "ints": (tensor(dtype="torch.int64", Max=7, Min=-3, Mean=None, Norm=None),
             tensor(dtype="torch.int64", Max=7, Min=-3, Mean=None, Norm=None)),
}


def pair_dump(side, table, task="statistics"):
    dump = Dump(task=task)
    for name, pair in table.items():
        dump.forward(f"Torch.{name}.0.forward", None, [tensor()], [pair[side]])
    return dump


def statistics():
    case("compare/special_statistics", "every special value of the rules, statistics", BOTH,
         {"npu": pair_dump(0, SPECIAL), "bench": pair_dump(1, SPECIAL)}, values="all")
    case("compare/special_db", "the same in .vis.db: no NaN in any JSON", BOTH + " --format db",
         {"npu": pair_dump(0, SPECIAL), "bench": pair_dump(1, SPECIAL)})
    bands = {f"band_{k}": (tensor(1.0 + k), tensor(1.0)) for k in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 5)}
    case("compare/bands", "index is the largest relative error, clamped; bands of the table", BOTH,
         {"npu": pair_dump(0, bands), "bench": pair_dump(1, bands)})
    case("compare/first_divergence", "inputs agree, outputs do not: named first",
         BOTH, {"npu": small(out={RELU: 3.0, "Module.net.fc2.Linear.forward.0": 3.0,
                                  "Functional.linear.1.forward": 3.0,
                                  "Module.net.Net.forward.0": 3.0},
                             inputs={"Module.net.fc2.Linear.forward.0": 3.0,
                                     "Functional.linear.1.forward": 3.0}), "bench": small()})
    signs = {"add": (tensor(), tensor()), "neg": SPECIAL["sign"]}
    case("compare/culprit_with_equal_norms", "a culprit is an error, whatever its norms say",
         [BOTH + " --fail-on error", BOTH + " --format db"],
         {"npu": pair_dump(0, signs), "bench": pair_dump(1, signs)})
    everything = dict.fromkeys(small().data, 3.0)
    case("compare/other_data", "inputs differ and nobody made them: no culprit, a first difference",
         [BOTH, BOTH + " --json"], {"npu": small(out=everything, inputs=everything),
                                    "bench": small()})
    unwritten = {name: (tensor(9.0), tensor(1.0))
                 for name in ("empty", "empty_like", "new_empty", "empty_strided", "zeros")}
    case("compare/unwritten_memory", "empty* is never suspicious, zeros is", BOTH,
         {"npu": pair_dump(0, unwritten), "bench": pair_dump(1, unwritten)})
    grads = {"requires": (tensor(grad=True), tensor(grad=False))}
    case("compare/requires_grad", "requires_grad differs: an error in the loose mode",
         [BOTH, BOTH + " --match loose"],
         {"npu": pair_dump(0, grads), "bench": pair_dump(1, grads)}, values="all")
    sides = []
    for dim in (0, 1):
        dump = Dump()
        dump.forward("Torch.sum.0.forward", None, [tensor()], [tensor()], dim=scalar(dim))
        sides.append(dump)
    case("compare/scalar_argument", "a scalar argument differs", [BOTH, BOTH + " --match loose"],
         {"npu": sides[0], "bench": sides[1]}, values="all")
    between = [Dump(), Dump()]
    for value, dump in zip((1.5, 1.0), between):
        for k in range(2):
            dump.forward(f"Torch.add.{k}.forward", None, [tensor()], [tensor(value if k else 1.0)])
    case("compare/collection_worst_child", "Apis_Between_Modules takes its worst child", BOTH,
         {"npu": between[0], "bench": between[1]})


def real_data():
    table = {
        "equal": ([1.0, 2.0], [1.0, 2.0]), "half": ([1.0, 2.0], [1.0, 3.0]),
        "nan_finite": ([NAN, 2.0], [1.0, 2.0]), "nan_nan": ([NAN, 2.0], [NAN, 2.0]),
        "inf_inf": ([INF, 2.0], [INF, 2.0]), "inf_minus_inf": ([INF, 2.0], [-INF, 2.0]),
        "one_zero": ([1.0, 2.0], [0.0, 2.0]), "thousand_zero": ([1000.0] * 2, [0.0] * 2),
        "zeros": ([0.0, 0.0], [0.0, 0.0]), "sign": ([1.0, -2.0], [-1.0, 2.0]),
        "one_element": ([1.0], [-1.0]), "empty": ([], []),
    }
    sides = []
    for side in (0, 1):
        dump = Dump(task="tensor")
        for name, pair in table.items():
            dump.forward(f"Torch.{name}.0.forward", None,
                         [stored(dump, f"{name}.in.npy", [1.0, 2.0])],
                         [stored(dump, f"{name}.out.npy", pair[side])])
        sides.append(dump)
    case("compare/special_real_data", "every special value of the rules, real data", BOTH,
         {"npu": sides[0], "bench": sides[1]}, values="all")
    sides = []
    for side in (0, 1):
        dump = Dump(task="tensor")
        damaged = {"fine": None, "missing": b"", "garbage": b"no tensor", "short": floats([1.0, 2.0])[:-4],
                   "other_shape": floats([1.0, 2.0, 3.0]), "other_dtype": floats([1, 2], "<i8")}
        for name, content in damaged.items():
            dump.forward(f"Torch.{name}.0.forward", None,
                         [stored(dump, f"{name}.in.npy", [1.0, 2.0])],
                         [stored(dump, f"{name}.out.npy", [1.0, 2.0],
                                 content=content if side == 0 else None)])
        sides.append(dump)
    case("compare/unreadable", "unreadable tensors are named, counted, never pass; exit 3", BOTH,
         {"npu": sides[0], "bench": sides[1]}, values="all")
    case("compare/unreadable_fail_on", "a triggered --fail-on comes before 3",
         BOTH + " --fail-on unreadable", {"npu": sides[0], "bench": sides[1]})


def checksums():
    def md5(text, **extra):
        return {"out": {RELU: tensor(md5=text, **extra)}}

    def all_md5(relu, others="0badc0de"):
        dump = small()
        for entry in dump.data.values():
            for value in entry["input_args"] + entry["output"]:
                value["md5"] = others
        dump.data[RELU]["output"][0]["md5"] = relu
        return dump

    case("compare/md5", "md5 on both sides: equal or different", BOTH,
         {"npu": all_md5("0badc0de"), "bench": all_md5("12345678")}, values=[RELU])
    case("compare/md5_one_side", "md5 against statistics: statistics", BOTH,
         {"npu": all_md5("0badc0de"), "bench": small()})

    def both_md5(kind, value=1.0, grad=False):
        """A product and its file, which another one takes."""
        dump = Dump(task="tensor")
        one = stored(dump, "o.npy", [value, 2.0, -3.0], md5=kind + "00000001")
        dump.forward("Torch.mul.0.forward", None,
                     [stored(dump, "i.npy", [1.0, 2.0, -3.0], md5=kind + "0000000a")], [one])
        dump.forward("Torch.neg.0.forward", None, [one],
                     [stored(dump, "n.npy", [value, 2.0, -3.0], md5=kind + "00000002",
                             requires_grad=grad)])
        return dump

    case("compare/md5_other_kind", "CRC-32 against XOR: tensor files, without them statistics",
         [BOTH, "msprobe graph npu_s bench_s -o out"],
         {"npu": both_md5("", 1.5), "bench": both_md5("0x00000000"),
          "npu_s": all_md5("0badc0de"), "bench_s": all_md5("0x000000000badc0de", "0x0000000012345678")}, values="all")
    lacking = both_md5("")
    del lacking.data["Torch.neg.0.forward"]["output"][0]["md5"]
    case("compare/md5_missing", "a value without a checksum is not compared, whatever else differs",
         [BOTH + " --match loose", "msprobe compare npu bench -o out --match loose"],
         {"npu": both_md5("", grad=True), "bench": lacking}, values="all")


def modes():
    def with_files(task):
        dump = Dump(task=task)
        dump.forward("Torch.mul.0.forward", None, [stored(dump, "i.npy", [1.0, 2.0])],
                     [stored(dump, "o.npy", [1.0, 2.0])])
        if task != "tensor":
            dump.files.clear()
            for entry in dump.data.values():
                for value in entry["input_args"] + entry["output"]:
                    del value["data_name"]
        return dump

    case("compare/tensor_against_statistics", "statistics, with a note", BOTH,
         {"npu": with_files("tensor"), "bench": with_files("statistics")})

    def structure():
        dump = small(task="structure")
        for entry in dump.data.values():
            for value in entry["input_args"] + entry["output"]:
                for key in ("Max", "Min", "Mean", "Norm"):
                    del value[key]
        return dump

    case("compare/structure", "task structure on both: structure only", BOTH,
         {"npu": structure(), "bench": structure()})
    case("compare/task_mismatch", "structure against statistics is an error", BOTH,
         {"npu": structure(), "bench": small()})


def make():
    statistics()
    real_data()
    checksums()
    modes()
