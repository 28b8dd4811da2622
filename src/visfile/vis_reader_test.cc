#include <gmock/gmock.h>

#include <algorithm>

#include "visfile/vis_fixture.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {
namespace {

using compare::NodeStatus;
using fixture::ScratchDirectory;
using testing::ElementsAre;

/// As Python's json.dump writes it, without our own key; the collection comes last in the file but
/// first among its siblings.
constexpr std::string_view kForeign =
    R"({"NPU": {"root": "DefaultModel", "dump_data_dir": "", "node": {
 "DefaultModel": {"id": "DefaultModel", "node_type": 0, "output_data": {}, "input_data": {},
  "upnode": "None", "subnodes": ["Apis.0", "M.b", "M.c"], "matched_node_link": ["DefaultModel"],
  "stack_info": [], "micro_step_id": 0, "data": {"precision_index": 0}},
 "M.b": {"id": "M.b", "node_type": 0,
  "output_data": {"M.b.output.0": {"type": "t", "shape": "[3, \"x\"]"}, "M.b.output.1": {"shape": "[9]"}},
  "input_data": {}, "upnode": "DefaultModel", "subnodes": [],
  "matched_node_link": ["DefaultModel", "M.\u0062"], "stack_info": [], "micro_step_id": 2,
  "data": {"precision_index": 0.97, "overflow_level": "high"}},
 "M.c": {"id": "M.c", "node_type": 1, "output_data": {"M.c.output.0": {"value": "null"}, "M.c.output.1": {"shape": "[9]"}},
  "input_data": {}, "upnode": "DefaultModel", "subnodes": [],
  "matched_node_link": [], "micro_step_id": 0, "data": {}},
 "Apis.0": {"id": "Apis.0", "node_type": 9, "output_data": {}, "input_data": {},
  "upnode": "DefaultModel", "subnodes": [], "matched_node_link": [], "micro_step_id": 0, "data": {}}}},
"Bench": {"root": "DefaultModel", "node": {
 "DefaultModel": {"id": "DefaultModel", "node_type": 0, "upnode": "None", "subnodes": ["M.b"],
  "matched_node_link": ["DefaultModel"], "micro_step_id": 0, "data": {}},
 "M.b": {"id": "M.b", "node_type": 0, "upnode": "DefaultModel", "subnodes": [],
  "matched_node_link": ["DefaultModel", "M.b"], "micro_step_id": 0, "data": {}}}},
"Colors": {}, "MicroSteps": 3, "task": "summary", "OverflowCheck": true})";

ReadOptions TwoThreads() {
  ReadOptions options;
  options.threads = 2;
  return options;
}

std::shared_ptr<UnitSource> Load(std::string_view text, const ScratchDirectory& directory) {
  const auto path = directory.path() / "compare_step4_rank7_1.vis";
  std::ofstream(path) << text;
  auto file = OpenVis(path, {});
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return nullptr;
  auto unit = (*file)->LoadUnit(0, TwoThreads());
  EXPECT_TRUE(unit.ok()) << unit.status().ToString();
  return unit.ok() ? *unit : nullptr;
}

TEST(VisReaderTest, FilesOfOtherToolsAreUnderstood) {
  const ScratchDirectory directory;
  const auto unit = Load(kForeign, directory);
  ASSERT_NE(unit, nullptr);
  const SideIndex& target = unit->index().target;
  EXPECT_EQ(unit->index().step, 4);
  EXPECT_EQ(unit->index().rank, 7);
  EXPECT_EQ(unit->index().micro_steps, 3);
  EXPECT_THAT(target.names, ElementsAre("DefaultModel", "M.b", "M.c", "Apis.0"));
  EXPECT_THAT(target.children(0), ElementsAre(3, 1, 2)) << "call order, not the file's";
  EXPECT_THAT(target.partners, ElementsAre(0, 1, graph::kNoNode, graph::kNoNode));
  EXPECT_THAT(target.status, ElementsAre(NodeStatus::kPass, NodeStatus::kError,
                                         NodeStatus::kUnmatched, NodeStatus::kUnmatched));
  EXPECT_FLOAT_EQ(target.worst[0], 0.97F);
  EXPECT_EQ(target.overflow[1], graph::OverflowLevel::kHigh);
  EXPECT_EQ(target.micro_steps[1], 2);
  EXPECT_EQ(target.kinds[3], graph::NodeKind::kApiCollection);
  EXPECT_FLOAT_EQ(unit->index().golden.index[1], 0.97F) << "golden shows its partner's index";
}

TEST(VisReaderTest, ProgressNeverGoesBack) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "compare.vis";
  std::ofstream(path) << kForeign;
  std::vector<uint64_t> told;
  ReadOptions options;
  options.threads = 1;
  options.progress = [&](uint64_t done, uint64_t total) {
    told.push_back(done);
    EXPECT_EQ(total, kForeign.size());
  };
  ASSERT_TRUE((*OpenVis(path, options))->LoadUnit(0, options).ok());
  EXPECT_EQ(told.size(), 2) << "once for each graph";
  EXPECT_TRUE(std::ranges::is_sorted(told));
}

TEST(VisReaderTest, ANodeIsReadByItself) {
  const ScratchDirectory directory;
  const auto unit = Load(kForeign, directory);
  ASSERT_NE(unit, nullptr);
  const Result<std::string> node = unit->NodeJson(Side::kTarget, 2);
  ASSERT_TRUE(node.ok());
  EXPECT_THAT(*node, testing::StartsWith(R"({"id": "M.c")"));
  EXPECT_THAT(*node, testing::EndsWith("}"));
  EXPECT_FALSE(unit->NodeJson(Side::kTarget, 4).ok());
  EXPECT_EQ(unit->index().target.shapes[2], 0U) << "the first output has no shape";
}

TEST(VisReaderTest, WhatIsNoGraphIsAnError) {
  const ScratchDirectory directory;
  for (const std::string_view text : {"", "[]", "{}", R"({"NPU": 3})", R"({"NPU": {"node": []}})",
                                      R"({"NPU": {"node": {"a": 1}}})", R"({"node": {"a": {}})",
                                      "\xFF\xFE", R"({"NPU": {}, "Bench": {}})"}) {
    const auto path = directory.path() / "a.vis";
    std::ofstream(path) << text;
    auto file = OpenVis(path, {});
    if (file.ok()) {
      EXPECT_FALSE((*file)->LoadUnit(0, {}).ok()) << text;
    }
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace msprobe::visfile
