#include <gtest/gtest.h>
#include <sys/stat.h>

#include "visfile/vis_fixture.h"

namespace msprobe::visfile {
namespace {

using compare::CompareMode;
using compare::Comparison;
using compare::NodeStatus;
using dump::Section;
using fixture::GraphMaker;
using fixture::Number;
using fixture::Scalar;
using fixture::ScratchDirectory;
using fixture::Tensor;
using graph::NodeKind;

/// The written text, the directory being empty before and holding one file after.
std::string Written(const VisContent& content, size_t threads = 2) {
  const ScratchDirectory directory;
  const auto path = WriteVis(content, directory.path() / "a.vis", {.threads = threads});
  EXPECT_TRUE(path.ok()) << path.status().ToString();
  EXPECT_EQ(directory.entries(), 1U);
  return path.ok() ? fixture::FileText(*path) : std::string();
}

std::shared_ptr<graph::Graph> SmallGraph(double value) {
  GraphMaker maker;
  const graph::NodeId module =
      maker.Add("Module.a.A.forward.0", graph::kRootNode, NodeKind::kModule,
                {Tensor(Section::kInput, "input.0", Number(value, value > 1 ? "2.5" : "1.0")),
                 Scalar("input.dim", "int", "-1"), Tensor(Section::kOutput, "output.0", {}),
                 Tensor(Section::kParameter, "parameters.weight", Number(fixture::kNone, "NaN"))});
  maker.Add("Torch.b.0.forward", module, NodeKind::kApi);
  maker.node(module).micro_step = 1;
  maker.dump().Stack("Module.a.A.forward.0", {"File a.py, line 1, in f, \n x"});
  return maker.Make();
}

constexpr std::string_view kSingleText =
    R"({"root":"DefaultModel","dump_data_dir":"/data/\"x\"","node":{
"DefaultModel":{"id":"DefaultModel","node_type":0,"output_data":{},"input_data":{},)"
    R"("upnode":"None","subnodes":["Module.a.A.forward.0"],"matched_node_link":[],)"
    R"("suggestions":{},"stack_info":[],"micro_step_id":0,"data":{},"matched_distributed":{}},
"Module.a.A.forward.0":{"id":"Module.a.A.forward.0","node_type":0,"output_data":)"
    R"({"Module.a.A.forward.0.output.0":{"type":"torch.Tensor","dtype":"torch.float32",)"
    R"("shape":"[4, 8]","Min":"null","data_name":"-1"}},"input_data":)"
    R"({"Module.a.A.forward.0.input.0":{"type":"torch.Tensor","dtype":"torch.float32",)"
    R"("shape":"[4, 8]","Max":"1.0","Min":"null","Mean":"1.0","Norm":"1.0","data_name":"-1"},)"
    R"("Module.a.A.forward.0.input.dim":{"type":"int","value":"-1","data_name":"-1",)"
    R"("Max":"-1","Min":"-1","Mean":"-1","Norm":"-1","dtype":"<class int>","shape":"[]"},)"
    R"("Module.a.A.forward.0.parameters.weight":{"type":"torch.Tensor","dtype":"torch.float32",)"
    R"("shape":"[4, 8]","Max":"nan","Min":"null","Mean":"nan","Norm":"nan","data_name":"-1"}},)"
    R"("upnode":"DefaultModel","subnodes":["Torch.b.0.forward"],"matched_node_link":[],)"
    R"("suggestions":{},"stack_info":["File a.py, line 1, in f, \n x"],"micro_step_id":1,)"
    R"("data":{},"matched_distributed":{}},
"Torch.b.0.forward":{"id":"Torch.b.0.forward","node_type":1,"output_data":{},"input_data":{},)"
    R"("upnode":"Module.a.A.forward.0","subnodes":[],"matched_node_link":[],"suggestions":{},)"
    R"("stack_info":[],"micro_step_id":0,"data":{"overflow_level":"high"},)"
    R"("matched_distributed":{}}},
"MicroSteps":2,"OverflowCheck":true}
)";

TEST(VisWriter, ASingleGraphHasTheKnownKeysInTheKnownOrder) {
  const auto graph = SmallGraph(1);
  graph->micro_steps = 2;
  graph->nodes[2].overflow = graph::OverflowLevel::kHigh;
  EXPECT_EQ(Written({.single = graph.get(), .overflow_check = true}), kSingleText);
}

TEST(VisWriter, AComparisonShowsMetricsLinksAndVerdictsOnTheTargetSide) {
  Comparison comparison =
      fixture::Compared(CompareMode::kStatistics, SmallGraph(2.5), SmallGraph(1));
  comparison.values[0].metrics = {
      1.5, fixture::kNone, 1.5,        1.5,
      1.5, fixture::kNone, 0.12317624, std::numeric_limits<double>::infinity()};
  comparison.values[2].reason = 1;
  comparison.values[3].nan_on_both_sides = true;
  comparison.reasons = {"", "nothing \"recorded\""};
  comparison.nodes[1].index = 1;
  comparison.nodes[1].status = NodeStatus::kError;
  comparison.nodes[1].worst_below = 1;
  comparison.nodes[2].index = 0.25;
  compare::DivergenceReport divergences;
  divergences.divergences.push_back(
      {.node = 1, .role = compare::Role::kCulprit, .reason = "inputs agree, outputs do not"});
  const std::string text = Written({.comparison = &comparison, .divergences = &divergences});

  const auto has = [&](std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  };
  has(R"({"NPU":{"root":"DefaultModel")");
  has(R"("Bench":{"root":"DefaultModel")");
  has(R"("data_name":"-1","Max diff":"1.5","Mean diff":"1.5","L2norm diff":"1.5",)"
      R"("MaxRelativeErr":"150.000000%","MeanRelativeErr":"12.317624%","NormRelativeErr":"inf%"})");
  has(R"("data_name":"-1","Reason":"nothing \"recorded\""})");
  has(R"("data_name":"-1","Reason":"NaN on both sides"})");
  has(R"("matched_node_link":["DefaultModel","Module.a.A.forward.0","Torch.b.0.forward"])");
  has(R"("data":{"precision_index":0.999999},"matched_distributed":{},"msprobe":{"index":1.0,)"
      R"("worst_below":1.0,"status":"error","reason":"inputs agree, outputs do not",)"
      R"("role":"culprit"}})");
  has(R"("data":{"precision_index":0.25})");
  has(R"("ToolTip":"{\"Max diff\":)");
  has(R"("#FF704D":{"value":[0.8,1],"description":)");
  has(R"("#C7C7C7":{"value":[],"description":)");
  has(R"("MicroSteps":1,"task":"summary","OverflowCheck":false})");
  const size_t golden = text.find("\"Bench\"");
  EXPECT_EQ(text.find("Max diff\":\"", golden), std::string::npos);
  EXPECT_EQ(text.find("msprobe", golden), std::string::npos);
}

TEST(VisWriter, ChecksumsCountOneAsEqual) {
  Comparison comparison = fixture::Compared(CompareMode::kMd5, SmallGraph(1), SmallGraph(1));
  comparison.nodes[1].index = 1;
  comparison.nodes[2].index = 0;
  const std::string text = Written({.comparison = &comparison});
  const size_t different = text.find(R"("data":{"precision_index":0.0})");
  const size_t equal = text.find(R"("data":{"precision_index":0.999999})");
  EXPECT_LT(different, equal);
  EXPECT_NE(equal, std::string::npos);
  EXPECT_NE(text.find(R"("#FFFCF3":{"value":[0.5,1],)"), std::string::npos);
  EXPECT_NE(text.find(R"("task":"md5")"), std::string::npos);
}

TEST(VisWriter, AnUnmatchedNodeHasNoIndexButAReason) {
  GraphMaker target;
  target.Add("Torch.only.0.forward", graph::kRootNode, NodeKind::kApi);
  GraphMaker golden;
  golden.Add("Torch.other.0.forward", graph::kRootNode, NodeKind::kApi);
  Comparison comparison = fixture::Compared(CompareMode::kStructure, target.Make(), golden.Make());
  const std::string text = Written({.comparison = &comparison});
  const std::string end =
      R"("matched_node_link":[],"suggestions":{},"stack_info":[],"micro_step_id":0,"data":{},)"
      R"("matched_distributed":{},"msprobe":{"status":"unmatched","reason":)";
  const size_t first = text.find(end);
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(end, first + 1), std::string::npos) << "golden side";
  EXPECT_NE(text.find(R"("task":"summary")"), std::string::npos);
}

TEST(VisWriter, PeersOnOtherRanksAreNamed) {
  GraphMaker maker;
  const graph::NodeId node =
      maker.Add("Distributed.all_reduce.0.forward", graph::kRootNode, NodeKind::kApi);
  maker.graph().distributed_peers = {{node, 1, "Distributed.all_reduce.0.forward"},
                                     {node, 3, "x\"y"}};
  const auto graph = maker.Make();
  EXPECT_NE(Written({.single = graph.get()})
                .find(R"("matched_distributed":{"communications_type":"send_receive",)"
                      R"("nodes_info":{"1":["Nan","Distributed.all_reduce.0.forward"],)"
                      R"("3":["Nan","x\"y"]}})"),
            std::string::npos);
}

TEST(VisWriter, ABatchThatSendsToOneRankAndReceivesFromAnotherDoesBoth) {
  GraphMaker maker;
  const graph::NodeId node =
      maker.Add("Distributed.batch_isend_irecv.0.forward", graph::kRootNode, NodeKind::kApi);
  maker.graph().distributed_peers = {{node, 1, "a", graph::Communication::kSend},
                                     {node, 3, "b", graph::Communication::kReceive}};
  const auto graph = maker.Make();
  EXPECT_NE(Written({.single = graph.get()}).find(R"("communications_type":"send_receive")"),
            std::string::npos);
}

TEST(VisWriter, HostileNamesStayText) {
  GraphMaker maker;
  const std::string names[] = {"<script>alert(1)</script>", "quote\"back\\slash", "卷积.forward.0",
                               std::string(10'000, 'n'), std::string("nul\0line\n", 9)};
  for (const std::string& name : names) {
    maker.Add(name, graph::kRootNode, NodeKind::kApi,
              {Tensor(Section::kOutput, "output.0", Number(1, "1"))});
  }
  const auto graph = maker.Make();
  const std::string text = Written({.single = graph.get()});
  for (const std::string_view name :
       {R"("<script>alert(1)</script>":{"id":)", R"("quote\"back\\slash":{"id":)",
        R"("卷积.forward.0.output.0":{)", R"("nul\u0000line\n":{"id":)"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
  EXPECT_NE(text.find("\"" + names[3] + "\":{"), std::string::npos);
}

TEST(VisWriter, ThreadsDoNotChangeTheText) {
  GraphMaker maker;
  for (int i = 0; i < 3000; ++i) {
    maker.Add("Torch.add." + std::to_string(i) + ".forward", graph::kRootNode, NodeKind::kApi,
              {Tensor(Section::kOutput, "output.0", Number(7, "7"))});
  }
  const auto graph = maker.Make();
  EXPECT_TRUE(Written({.single = graph.get()}, 1) == Written({.single = graph.get()}, 5));
}

TEST(VisWriter, NeverOverwrites) {
  const auto graph = SmallGraph(1);
  const ScratchDirectory directory;
  const VisContent content{.single = graph.get()};
  for (const char* name : {"a.vis", "a_1.vis", "a_2.vis"}) {
    const auto path = WriteVis(content, directory.path() / "a.vis", {});
    ASSERT_TRUE(path.ok());
    EXPECT_EQ(path->filename(), name);
    struct stat info{};
    ASSERT_EQ(::stat(path->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0640U);
  }
}

TEST(VisWriter, ErrorsLeaveNothingBehind) {
  const auto graph = SmallGraph(1);
  const ScratchDirectory directory;
  base::CancelToken cancel;
  cancel.Cancel();
  EXPECT_EQ(WriteVis({.single = graph.get()}, directory.path() / "a.vis", {.cancel = &cancel})
                .status()
                .code(),
            StatusCode::kCancelled);
  EXPECT_EQ(directory.entries(), 0U);
  EXPECT_EQ(
      WriteVis({.single = graph.get()}, directory.path() / "none" / "a.vis", {}).status().code(),
      StatusCode::kIo);
}

TEST(VisWriter, LinksOfAbsurdlyDeepNodesKeepTheirEnd) {
  GraphMaker maker;
  graph::NodeId parent = graph::kRootNode;
  for (int depth = 0; depth < 1500; ++depth) {
    parent = maker.Add("m" + std::to_string(depth), parent, NodeKind::kModule);
  }
  const auto graph = maker.Make();
  const Comparison comparison = fixture::Compared(CompareMode::kStatistics, graph, graph);
  const std::string text = Written({.comparison = &comparison});
  EXPECT_NE(text.find(R"("matched_node_link":["m476","m477",)"), std::string::npos);
  EXPECT_NE(text.find(R"("matched_node_link":["DefaultModel","m0","m1"],)"), std::string::npos);
}

}  // namespace
}  // namespace msprobe::visfile
