#include "viewer/node_lists.h"

#include <gtest/gtest.h>

#include <cmath>

namespace msprobe::viewer {
namespace {

using compare::NodeStatus;
using graph::OverflowLevel;

struct Node {
  NodeStatus status = NodeStatus::kUnmatched;
  OverflowLevel overflow = OverflowLevel::kNone;
  float index = NAN;
};

/// A comparison whose target has these nodes directly below the root; those that are unmatched have
/// no partner.
visfile::UnitIndex UnitOf(const std::vector<Node>& nodes) {
  visfile::UnitIndex unit;
  unit.target.Add("root");
  unit.golden.Add("root");
  for (visfile::SideIndex* side : {&unit.target, &unit.golden}) {
    side->partners[0] = 0;
    side->status[0] = NodeStatus::kPass;
  }
  for (const Node& node : nodes) {
    const uint32_t id = unit.target.Add("node");
    unit.target.parents[id] = 0;
    unit.target.status[id] = node.status;
    unit.target.overflow[id] = node.overflow;
    unit.target.index[id] = node.index;
    if (node.status == NodeStatus::kUnmatched) continue;
    const uint32_t partner = unit.golden.Add("node");
    unit.golden.parents[partner] = 0;
    unit.golden.partners[partner] = id;
    unit.target.partners[id] = partner;
  }
  unit.target.Complete(0.8F);
  unit.golden.Complete(0.8F);
  return unit;
}

OverviewBin BinOf(const std::vector<Node>& nodes) {
  const std::vector<OverviewBin> bins = Overview(UnitOf(nodes), 1);
  EXPECT_EQ(bins.size(), 1);
  return bins.front();
}

TEST(OverviewTest, TellsTheWorstStatusAndTheFirstThatHasIt) {
  const OverviewBin errors = BinOf({{NodeStatus::kWarning},
                                    {NodeStatus::kUnreadable},
                                    {NodeStatus::kError},
                                    {NodeStatus::kError},
                                    {NodeStatus::kPass}});
  EXPECT_EQ(errors.status, NodeStatus::kError);
  EXPECT_EQ(errors.status_id, 3);
  const OverviewBin unreadable = BinOf({{NodeStatus::kUnreadable}, {NodeStatus::kWarning}});
  EXPECT_EQ(unreadable.status, NodeStatus::kUnreadable);
  EXPECT_EQ(unreadable.status_id, 1);
}

TEST(OverviewTest, TellsTheWorstOverflowAndTheFirstThatHasIt) {
  const OverviewBin bin = BinOf({{NodeStatus::kError, OverflowLevel::kMedium, 1},
                                 {NodeStatus::kPass, OverflowLevel::kCritical, 0},
                                 {NodeStatus::kPass, OverflowLevel::kHigh, 0},
                                 {NodeStatus::kPass, OverflowLevel::kCritical, 0}});
  EXPECT_EQ(bin.overflow, OverflowLevel::kCritical);
  EXPECT_EQ(bin.overflow_id, 2);
  EXPECT_EQ(bin.status_id, 1);
  EXPECT_EQ(bin.node.id, 1);
}

TEST(OverviewTest, LeadsToTheFirstNodeWithoutAPartnerAndToNoneThatPasses) {
  const OverviewBin bin = BinOf({{NodeStatus::kPass, OverflowLevel::kNone, 0.1F},
                                 {NodeStatus::kUnmatched},
                                 {NodeStatus::kPass, OverflowLevel::kNone, 0.1F},
                                 {NodeStatus::kUnmatched}});
  EXPECT_EQ(bin.unmatched, 2);
  EXPECT_EQ(bin.unmatched_id, 2);
  // Of a status nothing is worse than a pass: the first node stands for it.
  EXPECT_EQ(bin.status, NodeStatus::kUnmatched);
  EXPECT_EQ(bin.status_id, 0);
}

TEST(OverviewTest, CutsTheRunIntoParts) {
  const visfile::UnitIndex unit = UnitOf({{NodeStatus::kPass},
                                          {NodeStatus::kWarning},
                                          {NodeStatus::kPass, OverflowLevel::kHigh},
                                          {NodeStatus::kPass},
                                          {NodeStatus::kPass}});
  const std::vector<OverviewBin> bins = Overview(unit, 3);
  ASSERT_EQ(bins.size(), 3);
  EXPECT_EQ(bins[1].status, NodeStatus::kWarning);
  EXPECT_EQ(bins[1].status_id, 2);
  EXPECT_EQ(bins[1].overflow_id, 3);
  EXPECT_EQ(bins[0].overflow, OverflowLevel::kNone);
  EXPECT_EQ(bins[2].status, NodeStatus::kUnmatched);
}

}  // namespace
}  // namespace msprobe::viewer
