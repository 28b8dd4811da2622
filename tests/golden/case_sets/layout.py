"""Which directories are ranks and steps, and how two sides pair."""
from .builder import BOTH, Dump, case, floats, frames, small, stored, tensor


def ranks(*names):
    return {name: small() for name in names}


def unequal():
    case("layout/unequal_ranks", "the missing rank is named", BOTH,
         ranks("npu/rank0", "npu/rank2", "bench/rank0"))
    case("layout/unequal_steps", "the missing step is named", BOTH,
         ranks("npu/step0/rank0", "npu/step1/rank0", "bench/step0/rank0", "bench/step2/rank0"))
    case("layout/unequal_steps_of_ranks", "steps that are there on both sides, whole or in part: what goes together",
         ["msprobe compare npu bench", "msprobe compare npu part"],
         ranks("npu/step0/rank0", "npu/step1/rank0", "npu/step1/rank1", "bench/step1/rank0", "bench/step1/rank1",
               "part/step0/rank1", "part/step1/rank0"))
    case("layout/unequal_kinds", "ranks against a single directory", BOTH,
         ranks("npu/rank0", "npu/rank1", "bench"))


def processes():
    bad = small(out={"Functional.relu.0.forward": 3.0})
    case("layout/process_is_no_rank", "the number of a process is told as such, and is no rank in json and SQL",
         ["msprobe compare npu bench", "msprobe compare npu bench -o out2 --format html",
          "msprobe compare npu bench --json", BOTH + " --json",
          "msprobe query npu 'select step, rank, name from culprits' -gp bench",
          "msprobe overflow npu --json", "msprobe compare npu bench --junit out/junit.xml"],
         {"npu/step0/proc41": bad, "bench/step0/proc7": small(), "npu/step1/proc41": small(),
          "bench/step1/proc7": small()}, prepare=["mkdir out out2"])


def make():
    unequal()
    processes()
    build = "msprobe graph npu -o out"
    case("layout/ranks", "numeric order: rank2 before rank10", build,
         ranks("npu/rank10", "npu/rank2", "npu/rank0"))
    case("layout/steps", "steps and ranks; one file each", BOTH,
         ranks(*(f"{side}/step{s}/rank{r}" for side in ("npu", "bench") for s in (0, 1)
                 for r in (0, 1))))
    case("layout/steps_db", "all steps and ranks in one .vis.db", BOTH + " --format db",
         ranks(*(f"{side}/step{s}/rank{r}" for side in ("npu", "bench") for s in (0, 1)
                 for r in (0, 1))))
    case("layout/step_inside", "one step folder given directly", "msprobe graph npu/step3 -o out",
         ranks("npu/step3/rank0", "npu/step3/rank1"))
    case("layout/mixed", "rank and step folders mixed is an error", build,
         ranks("npu/rank0", "npu/step0/rank0"))
    case("layout/processes", "proc folders pair whatever their number, no rank in the name", BOTH,
         ranks("npu/step0/proc41", "bench/step0/proc7"))
    case("layout/process_and_rank", "proc pairs with the other side's rank0", BOTH,
         ranks("npu/step0/proc41", "bench/step0/rank0"))
    case("layout/several_processes", "several proc folders in a step are listed", BOTH,
         ranks("npu/step0/proc41", "npu/step0/proc42", "bench/step0/rank0"))
    case("layout/foreign", "foreign files and folders are reported and skipped", build,
         {**ranks("npu/rank0"), "npu/notes.txt": "x", "npu/rank0_old/x": "x", "npu/rank": "x"})
    case("layout/one_rank_damaged", "a damaged rank does not stop the others; exit 2", BOTH,
         {**ranks("npu/rank0", "npu/rank1", "bench/rank0", "bench/rank1"),
          "bench/rank1/dump.json": "{\"task\": 1 2}"})

    def tensors(data_dir, keep_files=True):
        dump = Dump(task="tensor", data_dir=data_dir)
        dump.forward("Torch.mul.0.forward", None, [stored(dump, "i.npy", [1.0, 2.0])],
                     [stored(dump, "o.npy", [1.0, 2.0])], stack=frames(4, "y = x * s"))
        if not keep_files:
            dump.files.clear()
        return dump

    case("layout/moved", "tensor files beside dump.json come before dump_data_dir", BOTH,
         {"npu": tensors("/nowhere/dump_tensor_data"), "bench": tensors("/nowhere")})
    case("layout/elsewhere", "tensor files at dump_data_dir", BOTH,
         {"npu": tensors("store", keep_files=False), "bench": tensors(None),
          "store/i.npy": floats([1.0, 2.0]), "store/o.npy": floats([1.0, 2.0])})
    distributed = {}
    for rank in (0, 1):
        dump = small()
        dump.forward("Distributed.all_reduce.0.forward", None, [tensor()], [tensor()],
                     group={"type": "torch.ProcessGroup", "group_ranks": [0, 1],
                            "group_id": "g"})
        distributed[f"npu/rank{rank}"] = dump
    case("layout/collectives", "the same collective on two ranks is linked", build, distributed)
