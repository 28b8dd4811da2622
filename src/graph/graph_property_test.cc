#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/match.h"
#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

std::unique_ptr<Graph> Build(std::shared_ptr<const dump::RankDump> dump) {
  base::Diagnostics diagnostics;
  auto result = BuildGraph(std::move(dump), {}, &diagnostics);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

/// A dump whose parents are drawn at random: cycles, unknown parents and all kinds of names.
/// `apis_hold` nodes: else only modules do.
std::shared_ptr<FakeRankDump> RandomDump(std::mt19937* random, bool apis_hold = true) {
  const auto draw = [&](uint32_t below) { return (*random)() % below; };
  const auto name = [&]() -> std::string {
    const std::string n = std::to_string(draw(4));
    switch (draw(6)) {
      case 0: return "Module.m" + n + ".M.forward." + std::to_string(draw(3));
      case 1: return "Module.m" + n + ".M.backward." + std::to_string(draw(3));
      case 2: return "Torch.f." + n + ".forward";
      case 3: return "Torch.f." + n + ".backward";
      case 4: return "Module.m" + n + ".M.parameters_grad";
      default: return "custom.g." + n + ".forward";
    }
  };
  auto dump = std::make_shared<FakeRankDump>();
  const uint32_t edges = 1 + draw(30);
  for (uint32_t i = 0; i < edges; ++i) {
    const std::string parent = draw(3) == 0 ? "" : name();
    dump->Edge(name(), apis_hold || parent.starts_with("Module.") ? parent : "");
    const std::string stacked = name();
    dump->Stack(stacked, {"File /t/checkpoint.py, line 1, in backward, \n f()"});
  }
  for (uint32_t i = draw(10); i-- > 0;) {
    const std::string entry = name();
    if (dump->Find(entry) == dump::kNoEntry)
      dump->Entry(entry, {Input({static_cast<int64_t>(draw(2))})});
  }
  return dump;
}

void ExpectTree(const Graph& graph) {
  std::vector<int> seen(graph.nodes.size(), 0);
  for (const NodeId id : ParentsFirst(graph)) ++seen[id];
  for (const NodeId id : CompletionOrder(graph)) ++seen[id];
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    EXPECT_EQ(seen[id], 2) << graph.nodes[id].name;
    EXPECT_EQ(graph.Find(graph.nodes[id].name), id);
    EXPECT_GE(graph.nodes[id].micro_step, 0);
    EXPECT_LT(graph.nodes[id].micro_step, graph.micro_steps);
    for (const NodeId child : graph.children(id)) EXPECT_EQ(graph.nodes[child].parent, id);
  }
  for (const auto& edge : graph.dump->construct()) EXPECT_NE(graph.Find(edge.child), kNoNode);
  for (dump::EntryId entry = 0; entry < graph.dump->entry_count(); ++entry) {
    const NodeId id = graph.Find(graph.dump->entry_name(entry));
    ASSERT_NE(id, kNoNode);
    EXPECT_EQ(graph.nodes[id].entry, entry);
  }
}

void ExpectSymmetric(const Graph& target, const Graph& golden, const Match& match) {
  EXPECT_EQ(match.golden_of_target[kRootNode], kRootNode);
  for (NodeId id = 0; id < target.nodes.size(); ++id) {
    const NodeId partner = match.golden_of_target[id];
    if (partner == kNoNode) {
      EXPECT_NE(match.target_reason[id], MatchReason::kNone) << target.nodes[id].name;
    } else {
      EXPECT_EQ(match.target_of_golden[partner], id);
      EXPECT_EQ(target.nodes[id].kind, golden.nodes[partner].kind);
    }
  }
  for (NodeId id = 0; id < golden.nodes.size(); ++id) {
    const NodeId partner = match.target_of_golden[id];
    if (partner == kNoNode) {
      EXPECT_NE(match.golden_reason[id], MatchReason::kNone) << golden.nodes[id].name;
    } else {
      EXPECT_EQ(match.golden_of_target[partner], id);
    }
  }
}

TEST(GraphPropertyTest, EveryIdStandsOnceInTheTreeAndLinksAreSymmetric) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    const auto target = Build(RandomDump(&random));
    const auto golden = Build(RandomDump(&random));
    ExpectTree(*target);
    for (int mode = 0; mode < 5; ++mode) {
      MatchOptions options;
      options.mode = mode == 1 ? MatchMode::kLoose : MatchMode::kStrict;
      options.fuzzy = mode == 2 || mode == 4;
      options.use_mapping = mode >= 3;
      options.mapping.by_class["TopLayer"] = {{"m0", "m1"}, {"m2", "m1"}};
      const auto match = MatchGraphs(*target, *golden, options);
      ASSERT_TRUE(match.ok());
      ExpectSymmetric(*target, *golden, *match);
      const auto self = MatchGraphs(*target, *target, options);
      ASSERT_TRUE(self.ok());
      for (NodeId id = 0; mode < 3 && id < target->nodes.size(); ++id) {
        EXPECT_EQ(self->golden_of_target[id], id) << target->nodes[id].name;
      }
    }
  }
}

TEST(GraphPropertyTest, ADumpAgainstItselfPairsEverythingAutomatically) {
  std::mt19937 random(11);
  MatchOptions options;
  options.mode = MatchMode::kAuto;
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    const auto graph = Build(RandomDump(&random, false));
    const auto other = Build(RandomDump(&random, false));
    ExpectSymmetric(*graph, *other, *MatchGraphs(*graph, *other, options));
    const auto self = MatchGraphs(*graph, *graph, options);
    for (NodeId id = 0; id < graph->nodes.size(); ++id) {
      EXPECT_EQ(self->golden_of_target[id], id) << graph->nodes[id].name << " in round " << round;
    }
  }
}

TEST(GraphPropertyTest, ChainOf100000) {
  constexpr int kDepth = 100'000;
  auto dump = std::make_shared<FakeRankDump>();
  std::string parent;
  for (int i = 0; i < kDepth; ++i) {
    const std::string name = "Module.m.M.forward." + std::to_string(i);
    dump->Edge(name, parent);
    parent = name;
  }
  const auto graph = Build(dump);
  ExpectTree(*graph);
  MatchOptions options;
  options.use_mapping = true;
  const auto match = MatchGraphs(*graph, *graph, options);
  EXPECT_EQ(match->golden_of_target.back(), graph->nodes.size() - 1);
}

TEST(GraphPropertyTest, CycleOf100000) {
  constexpr int kLength = 100'000;
  auto dump = std::make_shared<FakeRankDump>();
  for (int i = 0; i < kLength; ++i) {
    dump->Edge("Module.m.M.forward." + std::to_string(i),
               "Module.m.M.forward." + std::to_string((i + 1) % kLength));
  }
  const auto graph = Build(dump);
  ExpectTree(*graph);
  EXPECT_EQ(graph->children(graph->Find(kUnplacedName)).size(), 1u);
}

TEST(GraphPropertyTest, DeepModulePathsUnderAMapping) {
  std::string path = "Module";
  for (int i = 0; i < 100'000; ++i) path += ".m";
  auto dump = std::make_shared<FakeRankDump>();
  dump->Edge(path + ".M.forward.0");
  const auto graph = Build(dump);
  MatchOptions options;
  options.use_mapping = true;
  options.mapping.by_class["TopLayer"] = {{"m", "m"}};
  EXPECT_EQ(MatchGraphs(*graph, *graph, options)->golden_of_target[1], 1u);
}

}  // namespace
}  // namespace msprobe::graph
