"""Command lines: every form, option, help text and usage error."""
from .builder import BOTH, FC1, Dump, case, frames, small, stored, tensor

PAIR = {"npu": small(), "bench": small()}
CONFIG = '{"npu_path": "./npu", "bench_path": "./bench", "is_print_compare_log": false}\n'
BAD = {"npu": small(out={"Functional.relu.0.forward": 3.0}), "bench": small()}


def forms():
    case("commands/seed_build", "seed form with npu_path alone builds one graph, .vis",
         "msprobe -f pytorch graph -i ./compare.json -o ./out",
         {"npu": small(), "compare.json": '{"npu_path": "./npu"}'})
    case("commands/seed_compare", "seed form compares, strict, .vis",
         "msprobe -f pytorch graph -i ./compare.json -o ./out", {**PAIR, "compare.json": CONFIG})
    case("commands/seed_mindspore", "-f mindspore works; a dump of the other framework is noted",
         "msprobe -f mindspore graph -i compare.json -o out", {**PAIR, "compare.json": CONFIG})
    mindtorch = small(framework="mindtorch")
    case("commands/seed_mindtorch",
         "-f mindspore takes a dump of the torch API on MindSpore without a note",
         "msprobe -f mindspore graph -i compare.json -o out",
         {"npu": mindtorch, "bench": mindtorch, "compare.json": CONFIG})
    fuzzy = small()
    for part in (fuzzy.data, fuzzy.construct, fuzzy.stack):
        part["Functional.relu.7.forward"] = part.pop("Functional.relu.0.forward")
    case("commands/fuzzy_behind_graph", "-f behind graph is the fuzzy match",
         "msprobe -f pytorch graph -i compare.json -o out -f",
         {"npu": fuzzy, "bench": small(), "compare.json": CONFIG})
    case("commands/visualize", "graph_visualize writes .vis.db and matches loosely",
         "msprobe graph_visualize -tp npu -gp bench -o out",
         {"npu": small(), "bench": small(out={"Functional.relu.0.forward": tensor(1, (3, 2))})})
    case("commands/visualize_build", "graph_visualize without -gp builds one graph",
         "msprobe graph_visualize -tp npu -o out", {"npu": small()})
    case("commands/visualize_long", "long options of graph_visualize",
         "msprobe graph_visualize --target_path npu --golden_path bench --output_path out "
         "--overflow_check --fuzzy_match --tensor_log --format vis", PAIR)
    case("commands/ours_db", "msprobe graph TARGET GOLDEN with --format db", BOTH + " --format db",
         PAIR)
    case("commands/dashes", "--output-path and --output_path are the same, = separates values",
         "msprobe graph npu bench --output-path=out --fail_on=error -j2", PAIR)
    case("commands/options_end", "behind -- all is a path",
         "msprobe graph npu -o out -- -bench", {"npu": small(), "-bench": small()})
    case("commands/empty_word", "a variable that is not set is no side that is left out",
         ["msprobe graph npu '' -o out", "msprobe graph '' npu -o out", "msprobe inspect ''"], PAIR)
    case("commands/nested_output", "-o creates missing parents, 0750", BOTH + "/a/b", PAIR)
    case("commands/other_format_lies_there", "a warning when the other format lies in OUT already",
         [BOTH, BOTH + " --format db", BOTH + " --format db"], PAIR,
         prepare=["mkdir out out2 out3", "touch out/old.vis.db out2/old.vis out3/old.vis.db"])
    case("commands/complete_stack", "-cs keeps all lines of the stack", BOTH + " -cs", PAIR,
         values=[FC1])
    case("commands/open_output", "others may write to OUT: said, since the plugin refuses it", BOTH,
         PAIR, prepare=["mkdir -m 0777 out", "chmod 0777 out"])
    case("commands/strange_paths", "spaces, plus signs, CJK and symlinks in paths",
         "msprobe graph 'a b+层/npu' link -o 'ö ut'",
         {"a b+层/npu": small(), "bench": small()}, prepare=["ln -s bench link"])


def results():
    case("commands/json", "--json: one object on standard output, all else on standard error",
         BOTH + " --json", BAD)
    case("commands/json_build", "--json for a single graph", "msprobe graph npu -o out --json -oc",
         {"npu": small()})
    case("commands/fail_on", "--fail-on: 1 if a level is found, else 0",
         [BOTH + " --fail-on error", BOTH + " --fail-on unmatched,unreadable",
          BOTH + " --fail-on culprit"], BAD)
    case("commands/fail_on_fine", "--fail-on on equal dumps gives 0",
         BOTH + " --fail-on error,warning,unmatched,unreadable,culprit", PAIR)
    real = {}
    for side, value in (("npu", 1.5), ("bench", 1.0)):
        dump = Dump(task="tensor")
        dump.forward("Torch.mul.0.forward", None, [stored(dump, "i.npy", [1.0, 2.0, -3.0])],
                     [stored(dump, "o.npy", [value, 2.0, -3.0])], stack=frames(4, "y = x * s"))
        real[side] = dump
    case("commands/print_compare_log", "is_print_compare_log prints one line per tensor",
         "msprobe graph -i compare.json -o out",
         {**real, "compare.json": '{"npu_path": "npu", "bench_path": "bench"}'})
    case("commands/no_compare_log", "is_print_compare_log false prints none",
         "msprobe graph -i compare.json -o out", {**real, "compare.json": CONFIG})
    case("commands/tensor_log", "--tensor_log prints them too", BOTH + " --tensor_log", real)


def config_files():
    run = "msprobe graph -i compare.json -o out"
    for name, summary, text in (
            ("comments", "# and // begin comments",
             '# both sides\n{"npu_path": "./npu", // here\n "bench_path": "./bench",\n'
             ' "is_print_compare_log": false # quiet\n}\n'),
            ("unknown_key", "an unknown key warns with the nearest known one",
             '{"npu_path": "npu", "bench_pth": "bench", "is_print_compare_log": false}'),
            ("no_target", "npu_path is required", '{"bench_path": "bench"}'),
            ("wrong_type", "a value of another type is named with its place",
             '{"npu_path": "npu",\n "bench_path": 5}'),
            ("wrong_bool", "is_print_compare_log must be true or false",
             '{"npu_path": "npu", "is_print_compare_log": "yes"}'),
            ("broken", "broken JSON is named with its place", '{"npu_path": "npu"'),
            ("list", "compare.json must be an object", "[1]"),
            ("byte_order_mark", "as some editors save it", "\ufeff" + CONFIG),
            ("zero_byte", "a path with a zero byte is none", '{"npu_path": "npu\\u0000x"}'),
            ("empty_path", "an empty path is no path", '{"npu_path": ""}')):
        case(f"commands/config_{name}", summary, run, {**PAIR, "compare.json": text})
    case("commands/config_missing", "compare.json that does not exist", run, PAIR)
    case("commands/config_working_directory", "paths count from the working directory",
         "msprobe graph -i conf/compare.json -o out",
         {**PAIR, "conf/compare.json": CONFIG})


def usage():
    for name, summary, run in (
            ("help", "help of the program, of each command", [
                "msprobe --help", "msprobe graph --help", "msprobe graph_visualize -h",
                "msprobe inspect --help", "msprobe completion --help", "msprobe overflow --help",
                "msprobe query --help", "msprobe tolerance --help", "msprobe view --help"]),
            ("version", "version", ["msprobe --version", "msprobe -V"]),
            ("no_command", "no command: help on standard error, 2", ["msprobe"]),
            ("unknown_command", "an unknown command names the nearest",
             ["msprobe grpah", "msprobe entirely-else"]),
            ("unknown_option", "an unknown option names the nearest",
             ["msprobe graph npu -o out --overflow", "msprobe graph npu -o out --fromat db",
              "msprobe --vresion", "msprobe graph npu -o out -x"]),
            ("missing_values", "missing arguments and values",
             ["msprobe graph npu", "msprobe graph -o out", "msprobe graph npu -o",
              "msprobe graph_visualize -o out", "msprobe inspect", "msprobe graph npu -o ''",
              "msprobe -f"]),
            ("wrong_values", "values that are not allowed",
             ["msprobe graph npu -o out --format bd", "msprobe graph npu -o out --match losse",
              "msprobe graph npu -o out -j 0", "msprobe graph npu -o out -j many",
              "msprobe -f pytorhc graph npu -o out", "msprobe completion fish",
              "msprobe graph npu bench -o out --fail-on eror",
              "msprobe graph npu -o out --fail-on error"]),
            ("too_much", "what is given twice or too often",
             ["msprobe graph a b c -o out", "msprobe graph a -tp b -o out",
              "msprobe graph a b -gp c -o out", "msprobe graph a -i c.json -o out",
              "msprobe graph a -o out -o out", "msprobe graph npu -o out --json=yes"]),
            ("completion", "completion scripts", ["msprobe completion bash",
                                                  "msprobe completion zsh"])):
        case(f"usage/{name}", summary, run, {"npu": small()})


def make():
    forms()
    results()
    config_files()
    usage()
