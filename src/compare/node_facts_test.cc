#include "compare/node_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

std::string Data(int id, double factor) {
  const auto number = [&](double value) { return std::to_string(value * factor); };
  return TestTensor{number(2.0 + id), number(-1.0 - id), number(0.25 + id), number(30.0 + id)}
      .Json();
}

// More nodes than one part has: places in the table are counted across the parts.
TEST(NodeFacts, AreTheSameForAnyNumberOfThreads) {
  constexpr int kNodes = 1500;
  TestDump target("facts_target");
  TestDump golden("facts_golden");
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "Torch.add." + std::to_string(i) + ".forward";
    const double factor = i < 700 ? 1 : 1.5;
    target.Add(name, "", Forward({Data(i, factor)}, {Data(i + 1, factor)}));
    golden.Add(name, "", Forward({Data(i, 1)}, {Data(i + 1, 1)}));
  }
  const TestResult result = CompareDumps(target, golden);
  const FactTable one = GatherFacts(result.comparison, 1, nullptr);
  const FactTable four = GatherFacts(result.comparison, 4, nullptr);
  ASSERT_EQ(one.nodes.size(), result.comparison.nodes.size());
  ASSERT_EQ(one.nodes.size(), four.nodes.size());
  ASSERT_EQ(one.uses.size(), four.uses.size());
  size_t next = 0;
  for (size_t id = 0; id < one.nodes.size(); ++id) {
    const NodeFacts& facts = one.nodes[id];
    EXPECT_EQ(facts.inputs_begin, four.nodes[id].inputs_begin);
    EXPECT_EQ(facts.outputs_end, four.nodes[id].outputs_end);
    EXPECT_EQ(facts.inputs_differ, four.nodes[id].inputs_differ);
    if (facts.outputs_end == facts.inputs_begin) continue;  // without a record
    EXPECT_EQ(facts.inputs_begin, next);
    next = facts.outputs_end;
  }
  EXPECT_EQ(next, one.uses.size());
  EXPECT_EQ(next, kNodes + 800u);  // all outputs, and the inputs that differ
  for (size_t i = 0; i < one.uses.size(); ++i) {
    EXPECT_EQ(one.uses[i].fingerprint, four.uses[i].fingerprint);
  }
}

}  // namespace
}  // namespace msprobe::compare
