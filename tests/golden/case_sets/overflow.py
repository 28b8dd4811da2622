"""msprobe overflow: where NaN or Inf begins, and how it goes through the ranks."""
import json

from .builder import Dump, case, frames, scalar, tensor

NAN, INF = float("nan"), float("inf")
RUN = "msprobe overflow npu"


def bad(kind=NAN, **extra):
    return tensor(Max=kind, Min=kind, Mean=kind, Norm=kind, **extra)


def masked():
    return tensor(Max=2.0, Min=-INF, Mean=-INF, Norm=INF)


def group(*ranks):
    return {"type": "torch.ProcessGroup", "group_ranks": list(ranks), "group_id": "g"}


class Rank(Dump):
    """One rank, told by its calls: `a` to `b` writes what goes in and what comes out."""

    def __init__(self, **options):
        super().__init__(**options)
        self.count = 0

    def op(self, api, take, give, **kwargs):
        self.count += 1
        return self.forward(f"{api}.{self.count}.forward", None, [take], [give],
                            stack=frames(self.count, f"y{self.count} = f(x)"), **kwargs)


def single():
    good = Rank().op("Torch.mul", tensor(), tensor()).op("Torch.exp", tensor(), tensor())
    case("overflow/none", "no overflow: exit 0, also with --fail-on",
         [RUN, RUN + " --fail-on overflow", RUN + " --json"], {"npu": good})
    found = (Rank().op("Torch.mul", tensor(), tensor()).op("Torch.exp", tensor(), bad(INF))
             .op("Torch.sub", bad(INF), bad()).op("Torch.log", tensor(), bad())
             .op("Torch.nan_to_num", bad(), tensor()))
    case("overflow/one_rank", "the first node, its line, what follows; exit 1 only with --fail-on",
         [RUN, RUN + " --fail-on overflow", RUN + " --json", "msprobe overflow npu -o out"],
         {"npu": found})
    case("overflow/fail_on_unknown", "--fail-on has one level", RUN + " --fail-on error",
         {"npu": good})
    case("overflow/structure", "without statistics nothing can be seen", RUN,
         {"npu": Rank(task="structure").op("Torch.mul", {"type": "torch.Tensor", "dtype": "torch.float32",
                                                         "shape": [2]}, {})})


def given():
    """What no recorded tensor made: numbers in the call, gradients of what is not recorded."""
    def rank(number):
        dump = Rank().op("Torch.mul", tensor(), tensor())
        dump.forward("Tensor.__setitem__.0.forward", None, [tensor(), scalar(0), scalar(number)], [None],
                     stack=frames(5, f"x[0] = {number}"))
        return dump.op("Torch.sub", bad(number) if number > 0 or number != number else tensor(), bad())

    case("overflow/number", "a call that is given NaN or Inf as a number, and gives out no tensor, made it",
         [RUN, RUN + " --json", "msprobe overflow infinity"], {"npu": rank(NAN), "infinity": rank(INF)})
    mask = Rank().forward("Tensor.__setitem__.0.forward", None, [tensor(), scalar(0), scalar(-INF)], [None])
    mask.op("Torch.norm", tensor(), tensor(), p=scalar(INF))
    case("overflow/number_of_mask", "-Inf written as a mask, and Inf that only says which norm, are no overflow",
         RUN, {"npu": mask})
    inside = Rank().op("Torch.mul", tensor(), tensor())
    inside.backward("Module.net.Net.backward.0", None, [tensor()], [bad()])
    inside.forward("Tensor.__setitem__.0.forward", None, [tensor(), scalar(0), scalar(NAN)], [None])
    inside.backward("Torch.mul.1.backward", "Module.net.Net.backward.0", [bad()], [bad()])
    case("overflow/number_in_backward", "a number that a call inside a backward was given, beside the hierarchy",
         RUN, {"npu": inside})
    back = Rank().op("Torch.mul", tensor(), tensor())
    back.backward("Torch.sub.0.backward", None, [tensor()], [tensor()])
    back.backward("Torch.mul.1.backward", None, [bad()], [bad()])
    case("overflow/unrecorded_backward", "a gradient that no recorded backward made: after which record",
         [RUN, RUN + " --json"], {"npu": back})


def not_suspicious():
    unwritten = (Rank().op("Torch.empty", scalar(3), bad()).op("Tensor.fill_", bad(), tensor())
                 .op("Distributed.recv", bad(), tensor()))
    case("overflow/unwritten_memory", "memory that nobody has written is no overflow", RUN,
         {"npu": unwritten})
    mask = (Rank().op("Tensor.masked_fill", tensor(), masked()).op("Torch.add", masked(), masked())
            .op("Functional.softmax", masked(), tensor()))
    case("overflow/mask", "-Inf written as a mask and taken out again is no overflow", RUN,
         {"npu": mask})
    cut_off = Rank().op("Torch.mul", tensor(), tensor()).op("Torch.exp", tensor(), tensor())
    text = json.dumps({**cut_off.head, "data": cut_off.data}, indent=1)
    cut_off.texts["dump.json"] = text[:int(len(text) * 0.7)]
    case("overflow/cut_off", "a dump.json that is cut off: nothing is said of what is lost, exit 3",
         [RUN, RUN + " --json", RUN + " --fail-on overflow"], {"npu": cut_off})
    empty_row = (Rank().op("Tensor.masked_fill", tensor(), masked())
                 .op("Functional.softmax", masked(), bad()))
    case("overflow/mask_to_nan", "NaN made out of a mask begins where it is made", RUN,
         {"npu": empty_row})
    logarithm = (Rank().op("Torch.log", tensor(), masked()).op("Torch.add", masked(), masked())
                 .op("Functional.softmax", masked(), bad()))
    logarithm.backward("Functional.softmax.3.backward", None, [tensor()], [bad()])
    case("overflow/log_of_zero", "-Inf that was computed is an overflow", RUN, {"npu": logarithm})


def already_there():
    data = Rank().op("Torch.mul", bad(), bad())
    case("overflow/input_data", "NaN in the data already", RUN, {"npu": data})
    weights = Dump()
    weights.forward("Module.fc.Linear.forward.0", None, [tensor()], [bad()],
                    parameters={"weight": bad()})
    case("overflow/weights", "NaN in the weights already", RUN, {"npu": weights})
    module = Dump()
    module.forward("Module.net.Net.forward.0", None, [tensor()], [bad()])
    module.forward("Functional.linear.0.forward", "Module.net.Net.forward.0", [tensor()], [tensor()])
    module.forward("Functional.relu.0.forward", "Module.net.Net.forward.0", [tensor()], [bad()])
    case("overflow/innermost", "of a module and what runs inside it, the innermost is named", RUN,
         {"npu": module})
    flat = Rank(level="L1").op("Torch.mul", tensor(), tensor()).op("Torch.exp", tensor(), bad())
    flat.texts = {"construct.json": "{}"}
    case("overflow/level_l1", "dumps without a hierarchy work too", RUN, {"npu": flat})


def collective(rank, take, give, name="Distributed.all_reduce", members=(0, 1, 2), **kwargs):
    return rank.op(name, take, give, group=group(*members), **kwargs)


def through_ranks():
    ranks = {}
    for number in (0, 1, 2):
        rank = Rank().op("Torch.mul", tensor(), tensor())
        if number == 2:
            rank.op("Torch.exp", tensor(), bad(INF))
        collective(rank, bad(INF) if number == 2 else tensor(), bad(INF))
        rank.op("Torch.div", bad(INF), bad())
        ranks[f"npu/step0/rank{number}"] = rank
    case("overflow/all_reduce", "source before destination through a collective", [RUN, RUN + " --json"],
         ranks)
    relay = {}
    for number in range(3):  # 0 sends to 1, which sends to 2
        rank = Rank()
        if number > 0:
            rank.op("Distributed.recv", tensor(), bad(), src=scalar(number - 1))
        rank.op("Torch.exp", bad() if number else tensor(), bad())
        if number < 2:
            rank.op("Distributed.send", bad(), {"type": "NoneType", "value": None},
                    dst=scalar(number + 1))
        relay[f"npu/rank{number}"] = rank
    case("overflow/send_recv", "from rank to rank by send and recv", RUN, relay)
    broadcast = {}
    for number in range(3):
        rank = Rank().op("Torch.exp", tensor(), bad() if number == 1 else tensor())
        collective(rank, bad() if number == 1 else tensor(), bad(), "Distributed.broadcast",
                   src=scalar(1))
        broadcast[f"npu/rank{number}"] = rank
    case("overflow/broadcast", "only the root of a broadcast gives it to others", RUN, broadcast)
    two = {}
    for number in range(2):
        two[f"npu/rank{number}"] = (Rank().op("Torch.mul", tensor(), tensor())
                                    .op("Torch.exp", tensor(), bad()))
    case("overflow/two_origins", "ranks that do not have it from each other", RUN, two)


def odd():
    missing = {}
    for number in (0, 1):
        rank = Rank()
        collective(rank, tensor(), bad(), members=(0, 1, 2))
        missing[f"npu/rank{number}"] = rank.op("Torch.mul", bad(), bad())
    case("overflow/missing_rank", "received from a rank that was not dumped", RUN, missing)
    circle = {}
    for number in (0, 1):  # the two pair their calls crosswise: each has it from the other
        rank = Rank()
        one, other = ("Distributed.all_reduce", "Distributed.all_gather_object")
        for name in ((one, other) if number == 0 else (other, one)):
            first = rank.count == 0
            collective(rank, tensor() if first else bad(), bad(), name, members=(0, 1))
        circle[f"npu/rank{number}"] = rank
    case("overflow/circle", "ranks that contradict each other: said, and cut", RUN, circle)
    later = {f"npu/step{step}/rank{rank}": Rank().op("Torch.exp", tensor(), tensor())
             .op("Torch.mul", tensor(), bad() if step == 1 and rank == 1 else tensor())
             for step in (0, 1, 2) for rank in (0, 1)}
    del later["npu/step2/rank0"]
    case("overflow/steps", "the first step with one; later ones are not read, ranks may differ", RUN,
         later)
    damaged = {"npu/rank0": Rank().op("Torch.exp", tensor(), tensor()), "npu/rank1": Rank()}
    damaged["npu/rank1"].texts = {"dump.json": "{\"task\": 1 2}"}
    case("overflow/damaged", "a rank that cannot be read is named; exit 2", [RUN, RUN + " --json"],
         damaged)
    empty = Rank().op("Torch.exp", tensor(), tensor())
    empty.data = {}
    case("overflow/no_records", "where nothing was recorded, nothing is finite", RUN, {"npu": empty})
    case("overflow/no_dump", "a directory without a dump", RUN, {"npu/x.txt": "x"})


def make():
    for write in (single, given, not_suspicious, already_there, through_ranks, odd):
        write()
