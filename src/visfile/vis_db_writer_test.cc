#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>

#include "visfile/sqlite.h"
#include "visfile/vis_fixture.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {
namespace {

using compare::CompareMode;
using compare::Comparison;
using compare::NodeStatus;
using dump::Section;
using fixture::GraphMaker;
using fixture::Number;
using fixture::ScratchDirectory;
using fixture::Tensor;
using graph::NodeKind;

/// All rows of a query, one line each, columns separated by '|'.
std::string Rows(const std::filesystem::path& path, std::string_view query) {
  auto database = Database::Open(path, Database::Mode::kRead);
  EXPECT_TRUE(database.ok()) << database.status().ToString();
  auto statement = database->Prepare(query);
  EXPECT_TRUE(statement.ok()) << statement.status().ToString();
  std::string text;
  for (;;) {
    const auto more = statement->Step();
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return text;
    for (int column = 0; column < statement->columns(); ++column) {
      text.append(column > 0 ? "|" : "");
      text.append(statement->IsNull(column) ? "NULL" : statement->Text(column));
    }
    text.push_back('\n');
  }
}

std::filesystem::path Write(const ScratchDirectory& directory,
                            const std::vector<VisContent>& contents) {
  auto writer = VisDbWriter::Create(directory.path() / "a.vis.db", {.threads = 2});
  EXPECT_TRUE(writer.ok()) << writer.status().ToString();
  for (const VisContent& content : contents) EXPECT_TRUE((*writer)->Add(content).ok());
  const auto path = (*writer)->Finish();
  EXPECT_TRUE(path.ok()) << path.status().ToString();
  EXPECT_EQ(directory.entries(), 1U);
  if (!path.ok()) return {};
  // SQLite compares every index with its table, and looks at every page.
  EXPECT_EQ(Rows(*path, "PRAGMA integrity_check"), "ok\n");
  return *path;
}

std::shared_ptr<graph::Graph> SmallGraph() {
  GraphMaker maker;
  const graph::NodeId module =
      maker.Add("Module.a.A.forward.0", graph::kRootNode, NodeKind::kModule,
                {Tensor(Section::kInput, "input.0", Number(1e-9, "1e-09")),
                 Tensor(Section::kOutput, "output.0", Number(1, "1.0"))});
  maker.Add("Torch.b.0.forward", module, NodeKind::kApi);
  maker.Add("Torch.c.0.forward", module, NodeKind::kApi);
  maker.dump().Stack("Module.a.A.forward.0", {"File a.py, line 1, in f, \n x"});
  return maker.Make();
}

TEST(VisDbWriter, NodesStandInPostOrder) {
  const ScratchDirectory directory;
  const auto graph = SmallGraph();
  const auto path = Write(directory, {{.single = graph.get(), .step = 3, .rank = 2}});
  EXPECT_EQ(Rows(path,
                 "SELECT id, graph_id, node_order, node_name, node_type, up_node, sub_nodes "
                 "FROM tb_nodes ORDER BY node_order"),
            "NPU_3_2_Torch.b.0.forward|NPU_3_2|0|Torch.b.0.forward|1|Module.a.A.forward.0|\n"
            "NPU_3_2_Torch.c.0.forward|NPU_3_2|1|Torch.c.0.forward|1|Module.a.A.forward.0|\n"
            "NPU_3_2_Module.a.A.forward.0|NPU_3_2|2|Module.a.A.forward.0|0|DefaultModel|"
            "[\"Torch.b.0.forward\",\"Torch.c.0.forward\"]\n"
            "NPU_3_2_DefaultModel|NPU_3_2|3|DefaultModel|0||[\"Module.a.A.forward.0\"]\n");
  EXPECT_EQ(Rows(path,
                 "SELECT precision_index, overflow_level, micro_step_id, matched_node_link, "
                 "parallel_merge_info, matched_distributed, modified, data_source, "
                 "dump_data_dir, step, rank, is_distributed FROM tb_nodes LIMIT 1"),
            "NULL|NULL|0|[]||{}|0|NPU|/data/\"x\"|3|2|0\n");
  EXPECT_EQ(Rows(path, "SELECT * FROM tb_config"), "1|build||NULL|1|0|{}|[2]|[3]\n");
  EXPECT_EQ(Rows(path, "SELECT count(*) FROM msprobe_nodes"), "0\n");
}

TEST(VisDbWriter, ReadingTheIndexTellsHowFarItIs) {
  const Comparison comparison =
      fixture::Compared(CompareMode::kStatistics, SmallGraph(), SmallGraph());
  const ScratchDirectory directory;
  const auto path = Write(directory, {{.comparison = &comparison}});
  const auto bytes = Rows(path, "SELECT sum(length(data)) FROM msprobe_index");
  std::vector<std::string> told;
  ReadOptions options;
  options.progress = [&told](uint64_t done, uint64_t total) {
    told.push_back(std::to_string(done) + " of " + std::to_string(total) + "\n");
  };
  const auto file = OpenVisDb(path, options);
  ASSERT_TRUE(file.ok() && (*file)->LoadUnit(0, options).ok());
  ASSERT_FALSE(told.empty());
  const std::string total = bytes.substr(0, bytes.size() - 1);
  EXPECT_EQ(told.front(), "0 of " + bytes);
  EXPECT_EQ(told.back(), total + " of " + bytes);
}

TEST(VisDbWriter, EveryNodeHasAStackAndEqualStacksAreKeptOnce) {
  const ScratchDirectory directory;
  const auto graph = SmallGraph();
  const auto path =
      Write(directory, {{.single = graph.get(), .rank = 0}, {.single = graph.get(), .rank = 1}});
  EXPECT_EQ(Rows(path, "SELECT stack_info FROM tb_stack ORDER BY stack_info"),
            "[\"File a.py, line 1, in f, \\n x\"]\n[]\n");
  EXPECT_EQ(Rows(path, "SELECT count(*) FROM tb_nodes n JOIN tb_stack s ON n.stack_id = s.id"),
            "8\n");
}

TEST(VisDbWriter, AComparisonTellsStatusMetricsAndReasons) {
  Comparison comparison = fixture::Compared(CompareMode::kStatistics, SmallGraph(), SmallGraph());
  comparison.reasons = {"", "say \"why\""};
  comparison.nodes[1].index = 0.7;
  comparison.nodes[1].worst_below = 1;
  comparison.nodes[1].status = NodeStatus::kWarning;
  comparison.nodes[2].status = NodeStatus::kError;
  comparison.nodes[3].status = NodeStatus::kUnreadable;
  comparison.values[0].metrics[0] = -0.125;
  comparison.values[1].status = NodeStatus::kError;
  comparison.values[1].requires_grad_equal = false;
  comparison.values[1].reason = 1;
  const ScratchDirectory directory;
  const auto path = Write(directory, {{.comparison = &comparison, .overflow_check = true}});
  EXPECT_EQ(Rows(path,
                 "SELECT node_name, precision_index FROM tb_nodes WHERE data_source='NPU' "
                 "ORDER BY node_order"),
            "Torch.b.0.forward|1\nTorch.c.0.forward|1\nModule.a.A.forward.0|0.5\n"
            "DefaultModel|0\n");
  EXPECT_EQ(Rows(path,
                 "SELECT count(precision_index), count(*), min(id) FROM tb_nodes "
                 "WHERE data_source='Bench'"),
            "0|4|Bench_0_0_DefaultModel\n");
  EXPECT_EQ(Rows(path,
                 "SELECT input_data, output_data, matched_node_link FROM tb_nodes "
                 "WHERE id='NPU_0_0_Module.a.A.forward.0'"),
            R"({"Module.a.A.forward.0.input.0":{"type":"torch.Tensor","dtype":"torch.float32",)"
            R"("shape":"[4, 8]","Max":"1e-09","Min":"null","Mean":"1e-09","Norm":"1e-09",)"
            R"("requires_grad":"True","data_name":"-1","Max diff":"-0.125",)"
            R"("Requires_grad Consistent":"True","Result":"pass","Err_message":"[]"}}|)"
            R"({"Module.a.A.forward.0.output.0":{"type":"torch.Tensor","dtype":"torch.float32",)"
            R"("shape":"[4, 8]","Max":"1.0","Min":"null","Mean":"1.0","Norm":"1.0",)"
            R"("requires_grad":"True","data_name":"-1","Requires_grad Consistent":"False",)"
            R"("Result":"error","Err_message":"[\"error: say \\\"why\\\"\"]"}}|)"
            R"(["DefaultModel","Module.a.A.forward.0"])"
            "\n");
  EXPECT_EQ(Rows(path,
                 "SELECT idx, worst_below, status, role FROM msprobe_nodes "
                 "WHERE id='NPU_0_0_Module.a.A.forward.0'"),
            "0.7|1.0|warning|NULL\n");
  EXPECT_EQ(Rows(path,
                 "SELECT count(*) FROM msprobe_nodes m JOIN tb_nodes n "
                 "ON m.rowid = n.rowid AND m.id = n.id"),
            "4\n");
  EXPECT_EQ(Rows(path,
                 "SELECT graph_type, task, micro_steps, overflow_check, rank_list, "
                 "step_list, json_extract(node_colors, '$.#FFDC7F.accuracy_level'), "
                 "json_valid(tool_tip) FROM tb_config"),
            "compare|summary|1|1|[0]|[0]|warning|1\n");
}

TEST(VisDbWriter, RanksAndStepsAreListedInNumericOrder) {
  const ScratchDirectory directory;
  const auto graph = SmallGraph();
  std::vector<VisContent> contents;
  for (const int64_t rank : {10, 2}) {
    for (const int64_t step : {1, 0}) {
      contents.push_back({.single = graph.get(), .step = step, .rank = rank});
    }
  }
  const auto path = Write(directory, contents);
  EXPECT_EQ(Rows(path, "SELECT rank_list, step_list FROM tb_config"), "[2, 10]|[0, 1]\n");
  EXPECT_EQ(Rows(path, "SELECT count(DISTINCT graph_id) FROM tb_nodes"), "4\n");
}

/// Equal names in several graphs, siblings of any number, more than one micro step.
std::shared_ptr<graph::Graph> WideGraph(int modules, int calls) {
  GraphMaker maker;
  for (int module = 0; module < modules; ++module) {
    const graph::NodeId parent = maker.Add("Module.m" + std::to_string(module) + ".M.forward.0",
                                           graph::kRootNode, NodeKind::kModule);
    for (int call = 0; call < calls; ++call) {
      const std::string number = std::to_string(module * calls + call);
      maker.Add("Torch.add." + number + ".forward", parent, NodeKind::kApi);
      maker.dump().Stack("Torch.add." + number + ".forward", {"File a.py, line " + number});
    }
  }
  auto graph = maker.Make();
  for (graph::NodeId id = 1; id < graph->nodes.size(); ++id) {
    graph->nodes[id].micro_step = static_cast<int32_t>(id / 300);
  }
  return graph;
}

TEST(VisDbWriter, ManyGraphsAreSortedIntoTheIndexes) {
  const ScratchDirectory directory;
  const auto large = WideGraph(40, 20);
  const auto small = WideGraph(3, 150);
  Comparison comparison = fixture::Compared(CompareMode::kStatistics, large, small);
  std::vector<VisContent> contents;
  for (const int64_t rank : {1, 10, 2}) {
    contents.push_back({.comparison = &comparison, .step = 100, .rank = rank});
    contents.push_back({.comparison = &comparison, .step = -3, .rank = rank});
  }
  const auto path = Write(directory, contents);
  const std::string nodes = std::to_string(6 * (large->nodes.size() + small->nodes.size()));
  EXPECT_EQ(Rows(path, "SELECT count(*) FROM tb_nodes"), nodes + "\n");
  EXPECT_EQ(Rows(path, "SELECT count(*) FROM tb_nodes n JOIN tb_stack s ON n.stack_id = s.id"),
            nodes + "\n");
  EXPECT_EQ(Rows(path,
                 "SELECT id, node_order FROM tb_nodes INDEXED BY nodes_by_parent WHERE "
                 "up_node='Module.m2.M.forward.0' AND step=-3 AND rank=10 AND data_source='Bench' "
                 "ORDER BY node_order LIMIT 2"),
            "Bench_-3_10_Torch.add.300.forward|302\nBench_-3_10_Torch.add.301.forward|303\n");
  EXPECT_EQ(Rows(path,
                 "SELECT micro_step_id, data_source FROM tb_nodes INDEXED BY nodes_by_order WHERE "
                 "step=100 AND rank=1 AND node_order=310"),
            "1|Bench\n1|NPU\n");
}

TEST(VisDbWriter, HostileNamesStayText) {
  GraphMaker maker;
  const std::string names[] = {"'); DROP TABLE tb_nodes; --", "<script>", "卷积",
                               std::string(10'000, 'n'), std::string("nul\0line\n", 9)};
  for (const std::string& name : names) maker.Add(name, graph::kRootNode, NodeKind::kApi);
  const ScratchDirectory directory;
  const auto graph = maker.Make();
  const auto path = Write(directory, {{.single = graph.get()}});
  std::string expected;
  for (const std::string& name : names) expected += name + "\n";
  EXPECT_EQ(Rows(path, "SELECT node_name FROM tb_nodes WHERE up_node != '' ORDER BY node_order"),
            expected);
}

TEST(VisDbWriter, NeverOverwritesAndLeavesNothingWithoutFinish) {
  const ScratchDirectory directory;
  const auto graph = SmallGraph();
  for (const char* name : {"a.vis.db", "a_1.vis.db"}) {
    auto writer = VisDbWriter::Create(directory.path() / "a.vis.db", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Add({.single = graph.get()}).ok());
    const auto path = (*writer)->Finish();
    ASSERT_TRUE(path.ok());
    EXPECT_EQ(path->filename(), name);
    struct stat info{};
    ASSERT_EQ(::stat(path->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0640U);
  }
  {
    auto writer = VisDbWriter::Create(directory.path() / "b.vis.db", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Add({.single = graph.get()}).ok());
  }
  EXPECT_EQ(directory.entries(), 2U);
}

TEST(VisDbWriter, WritesBelowALinkedDirectory) {
  const ScratchDirectory directory;
  std::filesystem::create_directory(directory.path() / "real");
  std::filesystem::create_directory_symlink("real", directory.path() / "link");
  const auto graph = SmallGraph();
  auto writer = VisDbWriter::Create(directory.path() / "link" / "a.vis.db", {});
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  ASSERT_TRUE((*writer)->Add({.single = graph.get()}).ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(Rows(directory.path() / "link" / "a.vis.db", "SELECT count(*) FROM tb_nodes"), "4\n");
  std::filesystem::create_symlink("a.vis.db", directory.path() / "real" / "b.vis.db");
  EXPECT_FALSE(Database::Open(directory.path() / "real" / "b.vis.db", Database::Mode::kRead).ok());
}

TEST(Sqlite, TooLittleMemoryIsNoFaultOfTheDisk) {
  const ScratchDirectory directory;
  std::ofstream(directory.path() / "a.db");
  auto database = Database::Open(directory.path() / "a.db", Database::Mode::kWrite);
  ASSERT_TRUE(database.ok());
  sqlite3_hard_heap_limit64(sqlite3_memory_used() + 500'000);
  const Status status = database->Execute("CREATE TABLE t AS SELECT randomblob(100000000) AS a");
  sqlite3_hard_heap_limit64(0);
  EXPECT_EQ(status.fact(), "out of memory") << status.ToString();
}

TEST(VisDbWriter, AfterACancelledAddThereIsNoFile) {
  const ScratchDirectory directory;
  const auto graph = SmallGraph();
  {
    base::CancelToken cancel;
    auto writer = VisDbWriter::Create(directory.path() / "a.vis.db", {.cancel = &cancel});
    ASSERT_TRUE(writer.ok());
    cancel.Cancel();
    EXPECT_EQ((*writer)->Add({.single = graph.get()}).code(), StatusCode::kCancelled);
    EXPECT_EQ((*writer)->Finish().status().code(), StatusCode::kCancelled);
  }
  EXPECT_EQ(directory.entries(), 0U);
}

}  // namespace
}  // namespace msprobe::visfile
