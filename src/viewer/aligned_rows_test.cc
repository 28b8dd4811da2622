#include "viewer/aligned_rows.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "viewer/name_search.h"
#include "viewer/node_lists.h"

namespace msprobe::viewer {
namespace {

using graph::kNoNode;
using testing::ElementsAre;
using visfile::Side;
using visfile::UnitIndex;

/// Children of the roots; pairs by position in `pairs`.
UnitIndex Flat(uint32_t targets, uint32_t goldens,
               const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  UnitIndex unit;
  for (const auto& [side, count] : {std::pair(&unit.target, targets), {&unit.golden, goldens}}) {
    side->Add("DefaultModel");
    for (uint32_t i = 0; i < count; ++i) side->parents[side->Add("n")] = 0;
  }
  unit.target.partners[0] = 0;
  unit.golden.partners[0] = 0;
  for (const auto& [t, g] : pairs) {
    unit.target.partners[t] = g;
    unit.golden.partners[g] = t;
  }
  unit.target.Complete(0.8F);
  unit.golden.Complete(0.8F);
  return unit;
}

TEST(AlignedRowsTest, PartnersShareARowAndOthersKeepTheirPlace) {
  // target 1 2 3, golden 1 2 3; 1-1 and 3-3 are partners, both 2 are alone.
  const UnitIndex unit = Flat(3, 3, {{1, 1}, {3, 3}});
  EXPECT_THAT(AlignChildren(unit, {0, 0}),
              ElementsAre(RowIds{1, 1}, RowIds{2, kNoNode}, RowIds{kNoNode, 2}, RowIds{3, 3}));
  EXPECT_EQ(CountAlignedChildren(unit, {0, 0}), 4U);
}

TEST(AlignedRowsTest, CrossingPairsFollowTheTarget) {
  const UnitIndex unit = Flat(2, 2, {{1, 2}, {2, 1}});
  EXPECT_THAT(AlignChildren(unit, {0, 0}), ElementsAre(RowIds{1, 2}, RowIds{2, 1}));
}

TEST(AlignedRowsTest, OneSideAlone) {
  const UnitIndex unit = Flat(2, 1, {{1, 1}});
  EXPECT_THAT(AlignChildren(unit, {0, kNoNode}),
              ElementsAre(RowIds{1, kNoNode}, RowIds{2, kNoNode}));
  EXPECT_THAT(AlignChildren(unit, {kNoNode, 0}), ElementsAre(RowIds{kNoNode, 1}));
}

TEST(AlignedRowsTest, EveryChildInExactlyOneRow) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const uint32_t targets = random() % 12;
    const uint32_t goldens = random() % 12;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    std::set<uint32_t> used;
    for (uint32_t t = 1; t <= targets && goldens > 0; ++t) {
      const uint32_t g = 1 + random() % goldens;
      if (random() % 2 == 0 && used.insert(g).second) pairs.emplace_back(t, g);
    }
    const UnitIndex unit = Flat(targets, goldens, pairs);
    const std::vector<RowIds> rows = AlignChildren(unit, {0, 0});
    EXPECT_EQ(rows.size(), CountAlignedChildren(unit, {0, 0}));
    std::multiset<uint32_t> seen_targets;
    std::multiset<uint32_t> seen_goldens;
    for (const RowIds& row : rows) {
      if (row.target != kNoNode) seen_targets.insert(row.target);
      if (row.golden != kNoNode) seen_goldens.insert(row.golden);
    }
    EXPECT_EQ(seen_targets.size(), targets);
    EXPECT_EQ(seen_goldens.size(), goldens);
    EXPECT_EQ(rows.size(), targets + goldens - pairs.size());
    for (uint32_t g = 1; g <= goldens; ++g) {
      const std::vector<PathStep> path = PathTo(unit, Side::kGolden, g);
      ASSERT_EQ(path.size(), 1U);
      EXPECT_EQ(path[0].row.golden, g);
      EXPECT_EQ(rows[path[0].at], path[0].row);
    }
  }
}

TEST(NodeListsTest, FilterSeekAndOverview) {
  UnitIndex unit = Flat(4, 1, {{1, 1}});
  const std::vector<visfile::Band> bands = visfile::BandsOf(compare::CompareMode::kStatistics);
  unit.target.index = {NAN, 0.1F, 0.9F, NAN, 1.F};
  unit.target.roles[2] = compare::Role::kCulprit;
  const NodeFilter worst = *NodeFilter::Parse("band", "4", bands);
  const NodePage page = ListNodes(unit, Side::kTarget, worst, 1, 10);
  EXPECT_EQ(page.total, 2U);
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0].id, 4U);
  EXPECT_EQ(SeekNode(unit, {Side::kTarget, 1}, true, worst)->id, 2U);
  EXPECT_FALSE(SeekNode(unit, {Side::kTarget, 2}, false, worst).has_value());
  EXPECT_EQ(ListNodes(unit, Side::kTarget, *NodeFilter::Parse("unmatched", "", bands), 0, 9).total,
            3U);
  EXPECT_EQ(CountNodes(unit, bands).culprits, 1U);
  unit.target.roles[3] = unit.target.roles[4] = compare::Role::kUndecidable;
  unit.target.status[4] = compare::NodeStatus::kUnreadable;
  EXPECT_EQ(CountNodes(unit, bands).undecided, 1U);
  const std::vector<OverviewBin> bins = Overview(unit, 2);
  EXPECT_EQ(bins[1].node.id, 4U);
  EXPECT_EQ(NodeFilter::Parse("band", "5", bands).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(NodeFilter::Parse("colour", "", bands).status().code(), StatusCode::kInvalidArgument);
}

TEST(NameSearchTest, SubstringsCaseAndStars) {
  UnitIndex unit;
  for (const char* name : {"DefaultModel", "Module.Net.forward.0", "Functional.relu.0.forward",
                           "Module.net.relu.ReLU.forward.0", "<script>\n"}) {
    unit.target.parents[unit.target.Add(name)] = 0;
  }
  unit.target.Complete(0.8F);
  NameSearch search(unit.target);
  EXPECT_THAT(search.Find("RELU", 0, 100, 1).ids, ElementsAre(2, 3));
  EXPECT_THAT(search.Find("module*relu", 0, 100, 1).ids, ElementsAre(3));
  EXPECT_THAT(search.Find("relu*module", 0, 100, 1).ids, ElementsAre());
  EXPECT_THAT(search.Find("<script>", 0, 100, 1).ids, ElementsAre(4));
  EXPECT_THAT(search.Find("defaultmodel", 0, 100, 1).ids, ElementsAre()) << "the root is no hit";
  EXPECT_THAT(search.Find("*", 0, 100, 1).ids, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(search.Find("", 0, 100, 1).ids, ElementsAre());
}

}  // namespace
}  // namespace msprobe::viewer
