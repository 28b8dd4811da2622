#include "viewer/recorded_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace msprobe::viewer {
namespace {

/// A node with one output of the given statistics.
RecordedNode Node(const std::string& dtype, const std::string& max, const std::string& min) {
  RecordedValue value;
  value.key = "output.0";
  value.section = "output";
  value.fields = {
      {"type", "torch.Tensor"}, {"dtype", dtype}, {"shape", "[2, 3]"}, {"Max", max}, {"Min", min},
      {"Mean", "null"},         {"Norm", "null"}};
  RecordedNode node;
  node.values.push_back(value);
  return node;
}

PairVerdict Compared(const RecordedNode& target, const RecordedNode& golden) {
  const TensorPlace nowhere;
  return CompareRecorded(compare::CompareMode::kStatistics, {"Torch.a.0.forward", target, nowhere},
                         {"Torch.b.0.forward", golden, nowhere});
}

TEST(PairMetrics, BooleansAreComparedAsNumbers) {
  for (const auto& [yes, no] : {std::pair("True", "False"), std::pair("true", "false")}) {
    const RecordedNode mixed = Node("torch.bool", yes, no);
    const RecordedNode all = Node("torch.bool", yes, yes);
    const PairVerdict same = Compared(mixed, mixed);
    EXPECT_EQ(same.index, 0) << same.reason;
    EXPECT_EQ(same.status, compare::NodeStatus::kPass);
    const PairVerdict different = Compared(mixed, all);
    EXPECT_EQ(different.index, 1) << different.reason;
  }
}

TEST(PairMetrics, NanAndInfinityAreNumbers) {
  const RecordedNode whole = Node("torch.float32", "2", "1");
  for (const char* text : {"nan", "NaN", "inf", "-inf"}) {
    const PairVerdict verdict = Compared(Node("torch.float32", text, "1"), whole);
    EXPECT_EQ(verdict.status, compare::NodeStatus::kError) << text;
    EXPECT_THAT(verdict.reason, testing::HasSubstr("NaN or infinity on one side only")) << text;
  }
}

TEST(PairMetrics, WhatIsNoNumberIsNotCompared) {
  const RecordedNode odd = Node("torch.float32", "much", "1");
  const PairVerdict verdict = Compared(odd, Node("torch.float32", "2", "1"));
  ASSERT_EQ(verdict.metrics.values.size(), 1u);
  EXPECT_EQ(verdict.metrics.values[0].Find("Max diff"), nullptr);
  const std::string* least = verdict.metrics.values[0].Find("Min diff");
  ASSERT_NE(least, nullptr) << "the other statistics are";
  EXPECT_EQ(*least, "0.0");
}

}  // namespace
}  // namespace msprobe::viewer
