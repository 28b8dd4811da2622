"""msprobe compare: verdict, tables, gate."""
import json

from .builder import FC1, FC2, NET, Dump, case, small, stored, tensor

COMPARE = "msprobe compare npu bench"
RELU = "Functional.relu.0.forward"
SAME = {"npu": small(), "bench": small()}
BAD = {"npu": small(out={RELU: 3.0}, inputs={FC2: 3.0}), "bench": small()}


def real(value, **options):
    dump = Dump(task="tensor")
    dump.forward("Torch.mul.0.forward", None, [stored(dump, "i.npy", [1.0, 2.0, -3.0])],
                 [stored(dump, "o.npy", [value, 2.0, -3.0], **options)])
    return dump


def verdicts():
    case("table/same", "equal dumps: same, every tensor a row in execution order, csv by default",
         COMPARE + " -o out", SAME)
    case("table/diverged", "culprit first with its source line; the rows carry the node's verdict",
         "msprobe compare -tp npu -gp bench -o out --format csv,json",
         BAD)
    lacking = small()
    for part in (lacking.data, lacking.construct, lacking.stack):
        del part[RELU]
    case("table/incomplete", "nothing differs, but one side lacks a node: incomplete",
         [COMPARE + " -o out", "msprobe compare bench npu -o out"],
         {"npu": lacking, "bench": small()})
    case("table/without_output", "without -o nothing is written", COMPARE + " --json", BAD)
    case("table/no_culprit", "values differ from the start: the first difference is named",
         COMPARE, {"npu": small(inputs={NET: 2.0, FC1: 2.0}), "bench": small()})
    unrecorded = small(out={RELU: tensor(Max=None, Min=None, Mean=None, Norm=None)})
    case("table/left_out", "statistics on one side only: not compared, said, incomplete",
         COMPARE + " -o out --json", {"npu": unrecorded, "bench": small()})
    case("table/modes", "columns of real data, of md5 and of structure",
         [COMPARE + " -o out", "msprobe compare md5 md5b -o out",
          "msprobe compare npu_s bench_s -o out"],
         {"npu": real(1.5), "bench": real(1.0),
          "md5": small(out={RELU: tensor(md5="00000001")}, inputs={RELU: tensor(md5="0000000a")}),
          "md5b": small(out={RELU: tensor(md5="00000002")}, inputs={RELU: tensor(md5="0000000a")}),
          "npu_s": small(task="structure"), "bench_s": small(task="structure")})


def recorded_in_part():
    def filled(value):
        """Collecting goes on with statistics when the disk is full."""
        dump = real(1.0)
        dump.forward("Torch.add.0.forward", None, [tensor()], [tensor(value)])
        dump.forward("Torch.sub.0.forward", None, [tensor()], [tensor()])
        return dump

    late = real(1.0)
    late.forward("Torch.add.0.forward", None, [tensor()], [tensor()])
    late.forward("Torch.sub.0.forward", None, [tensor()], [stored(late, "s.npy", [2.0] * 6, shape=(2, 3),
                                                                  Max=2.0, Min=-1.0, Mean=0.5, Norm=4.0)])
    case("table/missing_files", "real data: a value without its tensor file is compared by statistics",
         [COMPARE + " -o out", "msprobe compare fine bench",
          "msprobe graph npu bench -o out --tensor_log"],
         {"npu": filled(10.0), "fine": filled(1.0), "bench": late})
    ids = {"dtype": "torch.int64", "Max": 9, "Min": 0}
    lookups = [small(inputs={FC1: tensor(Mean=mean, Norm=norm, **ids)})
               for mean, norm in ((3.5, 8.0), (None, None))]
    case("table/null_on_one_side", "a statistic that one side lacks: the others count, incomplete",
         [COMPARE + " -o out --json", "msprobe compare bench npu", "msprobe compare bench bench"],
         {"npu": lookups[0], "bench": lookups[1]})
    mixed = {"statistics": small, "tensor": lambda: real(1.0), "structure": lambda: small(task="structure")}
    case("table/mixed_modes", "ranks that are compared by different modes: the bands of each for itself",
         [COMPARE + " --json", "msprobe graph npu bench -o out --json"],
         {f"{side}/rank{i}": dump() for side in ("npu", "bench")
          for i, dump in enumerate(mixed.values())})
    case("table/unreadable", "a tensor file that is missing: incomplete, unreadable row, 3",
         COMPARE + " -o out", {"npu": real(1.0, content=b""), "bench": real(1.0)})
    damaged = {"npu": small(inputs={FC1: {"type": "torch.Tensor", "shape": 5}}), "bench": small()}
    case("table/damaged_record", "a damaged record has a row that says so", COMPARE + " -o out --json",
         damaged)
    case("table/damaged_golden_record", "a damaged record of golden: unreadable, in every output",
         ["msprobe compare bench npu -o out --format csv,json --junit out/report.xml --fail-on unreadable",
          "msprobe query bench 'select name, side, kind, reason from not_compared' -gp npu --csv",
          "msprobe compare bench npu --allow skips.yaml --fail-on unreadable --junit out/allow.xml"],
         {**damaged, "skips.yaml": "allow: []\n"}, prepare=["mkdir out"])
    lone = {side: small() for side in ("npu", "bench")}
    for side, name in (("npu", "Torch.only_target.0.forward"), ("bench", "Torch.only_golden.0.forward")):
        lone[side].forward(name, NET, [{"type": "torch.Tensor", "shape": 5}], [tensor()])
    case("table/damaged_unmatched", "a damaged record without a partner: compare and graph say the same",
         [COMPARE + " -o out --junit out/report.xml --fail-on unreadable",
          "msprobe graph npu bench -o out --fail-on unreadable",
          COMPARE, "msprobe graph npu bench -o out --json"], lone, prepare=["mkdir out"])


def rows():
    case("table/scalars", "scalar arguments have a row where they differ",
         COMPARE + " -o out",
         {side: Dump().forward("Torch.sum.0.forward", None, [tensor()], [tensor()],
                               dim={"type": "int", "value": dim},
                               keepdim={"type": "bool", "value": True})
          for side, dim in (("npu", 1), ("bench", 2))})
    case("table/special_values", "NaN and infinities: texts in the tables, no number in json",
         COMPARE + " -o out --format csv,json,xlsx",
         {"npu": small(out={RELU: tensor(Max=float("nan"), Mean=float("inf"))}),
          "bench": small()})
    case("table/left_tensors", "tensors without a partner inside a pair",
         COMPARE + " -o out --match loose",
         {"npu": Dump().forward("Torch.cat.0.forward", None, [tensor()], [tensor()]),
          "bench": Dump().forward("Torch.cat.0.forward", None, [tensor(), tensor(2.0)],
                                  [tensor()])})
    evil = {}
    for side, value in (("npu", 2.0), ("bench", 1.0)):
        dump = Dump()
        dump.forward("=cmd|'/c calc'!A1.0.forward", None, [tensor()], [tensor()])
        dump.forward('+<script>alert("1")</script>.0.forward', None, [tensor()], [tensor(value)])
        dump.forward("Torch.a,\"b\"\n\x1b[31m.0.forward", None, [tensor(value)], [tensor(value)])
        evil[side] = dump
    case("table/hostile_names", "names that a spreadsheet, a browser or a terminal would obey",
         COMPARE + " -o out --format csv,xlsx,html,json --junit out/report.xml --fail-on culprit",
         evil)
    case("table/formats", "csv, xlsx, json and html of one comparison",
         COMPARE + " -o out --format csv,xlsx,json,html", BAD)
    ranks = {f"npu/step{s}/rank{r}": small(out={RELU: 3.0} if r else {}) for s in (0, 1)
             for r in (0, 1)}
    ranks |= {f"bench/step{s}/rank{r}": small() for s in (0, 1) for r in (0, 1)}
    case("table/ranks", "one table a rank and step, one report for all; the first step first",
         COMPARE + " -o out --format csv,json", ranks)


def matching():
    fuzzy = small()
    for part in (fuzzy.data, fuzzy.construct, fuzzy.stack):
        part["Functional.relu.7.forward"] = part.pop(RELU)
    case("table/fuzzy", "-fm pairs by name and order", [COMPARE, COMPARE + " -fm"],
         {"npu": fuzzy, "bench": small()})
    other = small()
    for part in (other.data, other.construct, other.stack):
        part["Module.net.dense1.Linear.forward.0"] = part.pop(FC1)
    for name, parent in other.construct.items():
        if parent == FC1:
            other.construct[name] = "Module.net.dense1.Linear.forward.0"
    case("table/layer_mapping", "-lm FILE pairs modules whose names differ",
         [COMPARE, COMPARE + " -lm map.yaml"],
         {"npu": other, "bench": small(), "map.yaml": "Net:\n  dense1: fc1\n"})


def gate_of_runs():
    """Runs that differ without a culprit, or are damaged."""
    late = small(out={FC1: 3.0, FC2: 3.0, RELU: 3.0}, inputs={FC1: 3.0, FC2: 3.0, RELU: 3.0})
    case("gate/diverged", "--fail-on diverged: also where no node is to blame",
         [COMPARE + " --fail-on culprit", COMPARE + " --fail-on diverged --junit out2/report.xml",
          "msprobe graph npu bench -o out --fail-on diverged"],
         {"npu": late, "bench": small()}, prepare=["mkdir out2"])
    case("gate/damaged_rank", "a rank that cannot be read does not hide a culprit: 1, else 2",
         [f"{COMPARE} --fail-on {level}" for level in ("culprit", "unreadable")]
         + ["msprobe graph npu bench -o out --fail-on culprit"],
         {"npu/step0/rank0": BAD["npu"], "npu/step0/rank1/dump.json": "\x00garbage",
          "bench/step0/rank0": small(), "bench/step0/rank1": small()})
    cut_off = small()
    text = json.dumps({**cut_off.head, "data": cut_off.data}, indent=1)
    cut_off.texts["dump.json"] = text[:int(len(text) * 0.7)]
    case("gate/cut_off", "a dump.json that is cut off: 3, unreadable, --allow may know it",
         [COMPARE, COMPARE + " --fail-on unreadable --json --junit out2/report.xml",
          "msprobe compare bench npu --fail-on unreadable", "msprobe compare npu npu",
          COMPARE + " --allow skips.yaml", "msprobe graph npu bench -o out"],
         {"npu": cut_off, "bench": small(), "skips.yaml":
          "allow:\n  - name: \"*.forward*\"\n    reason: the disk was full\n"
          "  - name: dump.json\n    reason: the disk was full\n"}, prepare=["mkdir out2"])


def gate():
    lacking = small(out={RELU: 3.0})
    for part in (lacking.data, lacking.construct, lacking.stack):
        del part[FC2]
    lacking.construct["Functional.linear.1.forward"] = NET
    pair = {"npu": lacking, "bench": small()}
    levels = ("culprit", "error", "warning", "unmatched", "unreadable", "diverged")
    case("gate/fail_on", "--fail-on: 1 for each level that is found",
         [f"{COMPARE} --fail-on {level}" for level in levels], BAD)
    case("gate/fail_on_fine", "--fail-on on equal dumps gives 0",
         COMPARE + " --fail-on " + ",".join(levels), SAME)
    case("gate/before_unreadable", "1 comes before 3, 3 without --fail-on",
         [COMPARE, COMPARE + " --fail-on unreadable", COMPARE + " --fail-on error"],
         {"npu": real(1.0, content=b""), "bench": real(1.0)})
    allow = ("allow:\n  - name: \"*.fc2.*\"\n    reason: not ported yet\n"
             "  - name: Functional.linear.1.forward\n    reason: its parent is not there\n")
    case("gate/allow", "--allow: known skips are no failure, also not with --fail-on unmatched",
         [COMPARE + " --allow skips.yaml", COMPARE + " --allow skips.yaml --fail-on unmatched",
          "msprobe graph npu bench -o out --allow skips.yaml --fail-on unmatched"],
         {**pair, "skips.yaml": allow})
    case("gate/allow_new", "--allow: a skip that the list does not know gives 1 and is named",
         [COMPARE + " --allow skips.yaml",
          "msprobe graph npu bench -o out --allow skips.yaml"],
         {**pair, "skips.yaml": "allow:\n  - name: Module.x\n    reason: gone\n"})
    case("gate/allow_stale", "--allow: entries that nothing needs any more are named, 0",
         COMPARE + " --allow skips.yaml", {**SAME, "skips.yaml": allow})
    case("gate/allow_unreadable", "--allow: a known unreadable tensor is no 3",
         COMPARE + " --allow skips.yaml --fail-on unreadable",
         {"npu": real(1.0, content=b""), "bench": real(1.0),
          "skips.yaml": "allow:\n  - name: Torch.mul.0.forward.output.0\n    reason: disk full\n"})
    for name, summary, text in (
            ("no_reason", "an entry without a reason", "allow:\n  - name: a\n"),
            ("unknown_key", "an entry with another key", "allow:\n  - nam: a\n    reason: b\n"),
            ("no_list", "no list", "allow: 5\n"), ("broken", "broken yaml", "allow: [\n"),
            ("other_top", "another key at the top", "allowed: []\n"),
            ("twice", "a name that stands twice",
             "allow:\n  - {name: a, reason: b}\n  - {name: a, reason: c}\n")):
        case(f"gate/allow_{name}", f"allow-list: {summary} is named", COMPARE
             + " --allow skips.yaml", {**SAME, "skips.yaml": text})
    case("gate/allow_missing", "allow-list that does not exist", COMPARE + " --allow no.yaml", SAME)
    case("gate/junit", "--junit: a case a level, failures only for those of --fail-on",
         [COMPARE + " --junit out/a.xml", COMPARE + " --junit out/b.xml --fail-on culprit,unmatched",
          "msprobe graph npu bench -o out --junit out/c.xml --fail-on error --allow skips.yaml"],
         {**pair, "skips.yaml": allow}, prepare=["mkdir out out2 out3"])
    case("gate/junit_unwritable", "--junit into a directory that is not there, a directory itself, or over a dump",
         [COMPARE + " --junit no/such/report.xml", COMPARE + " --junit npu", COMPARE + " --junit npu/dump.json",
          "msprobe graph npu bench -o out --junit ."], SAME)
    # Too long for a directory, which shows when the written file gets its name.
    name = "x" * 300 + ".xml"
    case("gate/junit_failed", "--junit that fails at the end: what was found is printed, 4",
         [COMPARE + " -o out --format csv,json,html --json --junit " + name,
          "msprobe graph npu bench -o out --junit " + name], BAD)
    case("gate/html_failed", "a report that does not fit: what was found is printed, 4",
         COMPARE + " -o out --format csv,html", BAD, file_size_limit=4000)


def queries():
    case("query/dump", "a dump: entries, tensors, stacks; text, csv and json",
         ["msprobe query npu 'select name, kind, direction, class, api, call, parent from entries'",
          "msprobe query npu 'select * from tensors limit 2' --json",
          "msprobe query npu 'select stack, place, frame from stacks where stack < 2' --csv",
          "msprobe query npu 'with t as (select node, max from tensors) select count(*), max(max) "
          "from t'"], {"npu": small()})
    case("query/comparison", "--golden: rows, nodes, culprits, diverged, not_compared",
         ["msprobe query npu \"select name, reason, source from culprits\" --golden bench",
          "msprobe query npu \"select name, role, culprit from diverged\" -gp bench --json",
          "msprobe query npu \"select target_name, max_relative_err, result from rows where result "
          "<> 'pass'\" -gp bench",
          "msprobe query npu \"select name, status, idx from nodes where idx > 0\" -gp bench",
          "msprobe query npu \"select * from not_compared\" -gp bench --csv"], BAD)
    case("query/columns", "every column of every kind of table by its name in SQL; a column that is none",
         ["msprobe query npu \"select * from rows limit 1\" -gp bench --csv",
          "msprobe query npu \"select * from nodes limit 1\" -gp bench --csv",
          "msprobe query npu \"select ulp from rows\" -gp bench",
          "msprobe query npu \"select d.whose from diverged d\" -gp bench",
          "msprobe query npu \"select nod from entries\"", "msprobe query npu \"select nod\""], BAD)
    case("query/vis_db", "a .vis.db: views of the same names",
         ["msprobe query c.vis.db 'select name, status, role, reason from nodes where side = "
          "\"NPU\"'", "msprobe query c.vis.db 'select name, reason from culprits'",
          "msprobe query c.vis.db \"select name, result from rows where result <> 'pass'\""],
         BAD, prepare=["$MSPROBE graph npu bench -o made --format db 2>/dev/null >/dev/null",
                       "mv made/*.vis.db c.vis.db"])
    case("query/ranks", "steps and ranks are columns",
         "msprobe query npu 'select step, rank, count(*) from entries group by step, rank'",
         {f"npu/step{s}/rank{r}": small() for s in (0, 1) for r in (0, 1)})
    case("query/only_reading", "what is not one SELECT is refused",
         [f"msprobe query npu \"{sql}\"" for sql in (
             "delete from tensors", "select 1; select 2", "", "pragma user_version",
             "attach 'x.db' as x", "create table t (a)", "select load_extension('x')",
             "insert into entries (name) values ('a')", "vacuum into 'x.db'",
             "select * from nosuch", "selekt 1", "/* nothing */")], {"npu": small()})
    endless = "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r"
    case("query/bounded", "time and rows are bounded",
         [f"msprobe query npu '{endless}' --timeout 0.2", "msprobe query npu 'select name from "
          "entries' --limit 2", "msprobe query npu 'select name from entries' --limit 2 --json",
          "msprobe query npu 'select 1' --limit x", "msprobe query npu 'select 1' --timeout 0",
          "msprobe query npu 'select 1' --json --csv"], {"npu": small()})


def odd_queries():
    case("query/special_values", "NaN is null and named in nan, infinities are texts in json",
         ["msprobe query npu 'select max, mean from tensors where mean > 1' --json",
          "msprobe query npu 'select max, mean from tensors where mean > 1' --csv",
          "msprobe query npu 'select node, name, nan from tensors where nan is not null'",
          "msprobe query npu 'select node, name from tensors where mean = 9e999'",
          "msprobe query npu 'select target_name, nan from rows where nan is not null' -gp bench",
          "msprobe query bench 'select target_name, nan from rows where nan is not null' -gp npu"],
         {"npu": small(out={RELU: tensor(Max=float("nan"), Mean=float("inf"))}),
          "bench": small()})
    case("query/damaged", "damaged records and tensor files are told and the answer is printed: 3",
         ["msprobe query npu 'select count(*) from tensors'",
          "msprobe query npu 'select count(*) from rows' -gp bench",
          "msprobe query real 'select count(*) from rows' -gp fine",
          "msprobe query bench 'select count(*) from tensors'",
          "msprobe query npu 'select nothing from tensors'"],
         {"npu": small(inputs={FC1: {"type": "torch.Tensor", "shape": 5}}), "bench": small(),
          "real": real(1.0, content=b""), "fine": real(1.0)})
    case("query/errors", "paths that cannot be asked",
         ["msprobe query none 'select 1'", "msprobe query npu/dump.json 'select 1'",
          "msprobe query npu 'select 1' --golden none", "msprobe query npu",
          "msprobe query empty.vis.db 'select 1'"], {"npu": small(), "empty.vis.db": ""})


def answers():
    case("usage/view_pairing",
         "options that pair two dumps, given to view with one or with what cannot be paired",
         ["msprobe view npu -fm", "msprobe view npu -lm map.yaml", "msprobe view npu --match loose",
          "msprobe view npu --tolerance t.yaml", "msprobe view npu --golden none",
          "msprobe view npu --golden ranks", "msprobe view case.vis --golden bench",
          "msprobe view npu --data none", "msprobe view npu --golden bench --tolerance missing.yaml",
          "msprobe view npu --golden bench -lm missing.yaml",
          "msprobe view npu --subtree Module.net.Net.forward.0"],
         {"npu": small(), "bench": small(), "ranks/rank0": small(), "ranks/rank1": small(),
          "case.vis": "{}"})
    npu = "msprobe {} npu {} bench".format
    case("usage/golden_spellings", "the golden side by any of its names, in every command",
         [npu(command, spelling) + rest for spelling in ("-gp", "--golden", "--golden_path", "--golden-path")
          for command, rest in (("compare", ""), ("view", " --export " + spelling.strip("-") + ".html"))]
         + [f"msprobe query npu 'select count(*) from culprits' {spelling}=bench"
            for spelling in ("-gp", "--golden", "--golden_path")]
         + ["msprobe graph npu --golden bench -o out", "msprobe graph_visualize -tp npu --golden bench -o out",
            "msprobe compare npu --golden bench --golden_path bench"], SAME)
    case("usage/json_answers", "--json of view --export",
         ["msprobe view c.vis --export page.html --json",
          "msprobe view c.vis --export none/page.html"], BAD,
         prepare=["$MSPROBE graph npu bench -o made 2>/dev/null >/dev/null",
                  "mv made/*.vis c.vis"])


def errors():
    case("table/usage", "what is missing or contradicts itself",
         ["msprobe compare", "msprobe compare npu", "msprobe compare npu bench --format csv",
          "msprobe compare npu bench -o out --format csv,xls", "msprobe compare npu bench -gp b",
          "msprobe compare npu none", "msprobe compare --help"], SAME)
    case("table/disk_full", "a table that does not fit: none is left, 4",
         [COMPARE + " -o out", COMPARE + " -o out --format xlsx"], SAME, file_size_limit=100)
    empty = small()
    empty.data = {}
    case("table/no_records", "where nothing was compared, nothing is the same", COMPARE + " --json",
         {"npu": empty, "bench": empty})
    case("table/mixed_tasks", "structure against statistics", COMPARE,
         {"npu": small(task="structure"), "bench": small()})


def make():
    verdicts()
    recorded_in_part()
    rows()
    matching()
    gate()
    gate_of_runs()
    queries()
    odd_queries()
    answers()
    errors()
