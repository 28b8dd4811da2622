"""Every error that must be clear, by name; and what `msprobe inspect` says."""
import json
from pathlib import Path

from .builder import BOTH, Dump, case, floats, small, stored, tensor

BUILD = "msprobe graph npu -o out"
INTEROP = Path(__file__).resolve().parents[2] / "interop/data"


def dumps():
    case("errors/path_missing", "path missing", [BUILD, BOTH], {"bench": small()})
    case("errors/file_for_directory", "a file where a directory is expected", BUILD, {"npu": "x"})
    case("errors/empty_directory", "empty directory", BUILD, prepare=["mkdir npu"])
    case("errors/no_dump_inside", "a directory without dumps", BUILD, {"npu/readme.txt": "x"})
    for name in ("dump", "stack", "construct"):
        dump = small()
        dump.texts[f"{name}.json"] = None
        case(f"errors/{name}_missing", f"{name}.json missing", BUILD, {"npu": dump})
        for what, text in (("empty_file", ""), ("malformed", '{"a" 1}'), ("list", "[]"),
                           ("no_json", "hello"), ("binary", "\x00\x01\x02")):
            dump = small()
            dump.texts[f"{name}.json"] = text
            case(f"errors/{name}_{what}", f"{name}.json: {what}", BUILD, {"npu": dump})
        whole = small()
        text = {"dump": json.dumps({**whole.head, "data": whole.data}, indent=1),
                "stack": json.dumps(whole.stack, indent=1),
                "construct": json.dumps(whole.construct, indent=1)}[name]
        whole.texts[f"{name}.json"] = text[:int(len(text) * 0.7)]
        case(f"errors/{name}_torn", f"{name}.json cut by a crash: read up to the last whole record",
             BUILD, {"npu": whole})
    dump = small()
    edges = [f'"{name}": {json.dumps(parent)}' for name, parent in dump.construct.items()]
    edges += [f'"Module.net.lost{number}.Linear.forward.0": null' for number in range(20)]
    dump.texts["construct.json"] = "{" + ", ".join(edges * 5) + "}"
    case("errors/many_notes", "a damaged file does not fill the screen", BUILD, {"npu": dump})
    case("errors/fifo", "not a regular file", BUILD, {"npu": small()},
         prepare=["rm npu/dump.json", "mkfifo npu/dump.json"])
    case("errors/directory_for_file", "a directory where dump.json is expected", BUILD,
         {"npu": small()}, prepare=["rm npu/dump.json", "mkdir npu/dump.json"])
    case("errors/huge", "huge JSON: 5 GB of zeros", BUILD, {"npu": small()},
         prepare=["truncate -s 5G npu/dump.json.big", "mv npu/dump.json.big npu/dump.json"])
    dump = small()
    dump.texts["dump.json"] = '{"task": "statistics", "data": {"Torch.a.0.forward": ' + \
        "[" * 400 + "]" * 400 + "}}"
    case("errors/deep", "400 levels: that record is unreadable", BUILD, {"npu": dump})
    dump = small()
    dump.data["Functional.relu.0.forward"] = "no record"
    case("errors/record_of_other_type", "a record of another type", BUILD, {"npu": dump})
    case("errors/unknown_task", "unknown task", BUILD, {"npu": small(task="guess")})
    case("errors/no_task", "dump.json without task", BUILD,
         {"npu/dump.json": '{"data": {}}', "npu/construct.json": "{}", "npu/stack.json": "{}"})
    hostile = Dump()
    for name in ("Torch.<script>alert(1)</script>.0.forward", "Torch.层\u202e.0.forward",
                 "Torch.\u001b[31mred.0.forward", "Torch." + "x" * 5000 + ".0.forward",
                 'Torch."quoted\\".0.forward'):
        hostile.forward(name, None, [tensor()], [tensor(3.0)])
    calm = Dump()
    for name in hostile.data:
        calm.forward(name, None, [tensor()], [tensor()])
    case("errors/hostile_names", "names are text: no control character reaches the terminal", BOTH,
         {"npu": hostile, "bench": calm})
    dump = Dump(task="tensor")
    dump.forward("Torch.mul.0.forward", None, [],
                 [stored(dump, "../../secret.npy", [1.0], content=b"")])
    case("errors/path_outside", "a tensor name that points outside is refused", BOTH,
         {"npu": dump, "bench": dump, "secret.npy": floats([1.0])})


def repeated():
    dump = small()
    records = [f'"{name}": {json.dumps(record)}' for name, record in dump.data.items()]
    dump.texts["dump.json"] = json.dumps(dump.head)[:-1] + ', "data": {' + ", ".join(records * 2) + "}}"
    case("errors/repeated_names", "records whose names were there before are told in one line", BUILD,
         {"npu": dump})


def without_calls():
    for name, summary, level, text in (
            ("empty", "level L1: construct.json is empty", "L1", "{}"),
            ("lost", "construct.json is empty though the level fills it", "mix", "{}"),
            ("torn_first", "construct.json cut before its first record", "mix", "{"),
            ("no_parents", "construct.json with nothing that is a parent", "mix", '{"a": 1}')):
        dump = small(level=level)
        dump.texts["construct.json"] = text
        case(f"errors/construct_{name}", summary, BUILD, {"npu": dump})
    case("errors/debug_level", "values that were saved by hand are no graph",
         [BUILD, "msprobe graph npu/step0/rank0 -o out", "msprobe compare npu npu -o out"],
         {"npu/step0/rank0": debug()})


def outputs():
    pair = {"npu": small(), "bench": small()}
    case("errors/output_is_a_file", "OUT is a file", BOTH, {**pair, "out": "x"})
    case("errors/output_below_a_file", "a parent of OUT is a file", BOTH + "/deep",
         {**pair, "out": "x"})
    case("errors/output_is_a_broken_link", "OUT is a link to nothing", BOTH, pair,
         prepare=["ln -s gone out"])
    case("errors/output_refused", "OUT cannot be made", "msprobe graph npu bench -o /proc/out",
         pair)
    case("errors/disk_full", "no room for the .vis: no half file stays", BOTH, pair,
         file_size_limit=2000)
    case("errors/disk_full_db", "no room for the .vis.db: no half file stays",
         BOTH + " --format db", pair, file_size_limit=20000)


def debug(**values):
    """What level debug leaves: debug.json alone."""
    dump = Dump(task="tensor", level="debug")
    saved = stored(dump, "loss.0.debug.npy", [2.0], content=floats([2.0]))
    dump.data = {"loss.0.debug": saved, "more.0.debug": {"k": [{"type": "int", "value": 1}, tensor()]},
                 "none.0.debug": None, "number.0.debug": {"type": "float", "value": 0.5}, **values}
    text = json.dumps({**dump.head, "data": dump.data}, indent=1)
    dump.texts = {"dump.json": None, "stack.json": None, "construct.json": None, "debug.json": text}
    return dump


def inspect():
    run = "msprobe inspect npu"
    case("inspect/whole", "what a dump holds", [run, run + " --json"], {"npu": small()})
    case("inspect/ranks", "every rank", run,
         {"npu/step0/rank0": small(), "npu/step0/rank1": small()})
    case("inspect/no_dump", "no dump", [run, "msprobe inspect none"], prepare=["mkdir npu"])
    dump = small()
    text = json.dumps({**dump.head, "data": dump.data}, indent=1)
    dump.texts["dump.json"] = text[:int(len(text) * 0.8)]
    construct = json.dumps(dump.construct, indent=1)
    dump.texts["construct.json"] = construct[:-30]
    case("inspect/repair", "torn files: told, repaired at the last whole record, whole afterwards",
         [run, run + " --repair", run, "msprobe graph npu -o out"], {"npu": dump})
    case("inspect/repair_again", "a file of an earlier repair is there: the name of the one that is kept now",
         run + " --repair", {"npu": dump, "npu/dump.json.torn": "of an earlier repair"})
    dump = small()
    dump.texts["dump.json"] = '{"task": "statistics", "data": {"a" 1}}'
    case("inspect/damaged", "damage inside a file is not repaired", [run, run + " --repair"],
         {"npu": dump})
    dump = Dump(task="tensor")
    dump.forward("Torch.mul.0.forward", None,
                 [stored(dump, "gone.npy", [1.0], content=b""),
                  stored(dump, "garbage.npy", [1.0], content=b"nothing"),
                  stored(dump, "shape.npy", [1.0], content=floats([1.0, 2.0]))],
                 [stored(dump, "fine.npy", [1.0])])
    dump.files["extra.npy"] = floats([1.0])
    dump.loose("Torch.late.0.forward", input_args=[], input_kwargs={}, output=[])
    case("inspect/tensor_files", "missing, damaged, contradicting and extra tensor files",
         [run, run + " --json"], {"npu": dump})
    dump = Dump(task="tensor")
    whole = (INTEROP / "parameter.pt").read_bytes()
    for name, content in (("whole.pt", whole),
                          ("damaged.pt", whole.replace(b"\0\0\xa0\x40", b"\0\1\xa0\x40")),
                          ("no_checksums.pt", (INTEROP / "no_checksums.pt").read_bytes())):
        dump.forward(f"Torch.{name[:-3]}.0.forward", None, [],
                     [stored(dump, name, [1.0] * 6, shape=(2, 3), content=content)])
    case("inspect/checksums", "a damaged value in a .pt file; checksums that torch left out are none",
         run, {"npu": dump})
    case("inspect/debug", "level debug: what was saved",
         [run, run + " --json", 'msprobe query npu "SELECT node, name, type, value, max FROM tensors"'],
         {"npu/step0/rank0": debug()})
    dump = debug()
    dump.texts["debug.json"] = dump.texts["debug.json"][:-60]
    case("inspect/debug_torn", "level debug: a torn file is repaired",
         [run, run + " --repair", run], {"npu": dump})
    dump = small()
    dump.texts["construct.json"] = dump.texts["stack.json"] = None
    case("inspect/only_dump", "stack.json and construct.json were not collected", run,
         {"npu": dump})


def make():
    dumps()
    repeated()
    without_calls()
    outputs()
    inspect()
