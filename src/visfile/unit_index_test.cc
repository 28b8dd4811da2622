#include "visfile/unit_index.h"

#include <gmock/gmock.h>

#include <cmath>

namespace msprobe::visfile {
namespace {

using testing::ElementsAre;

SideIndex Tree(std::initializer_list<std::pair<uint32_t, float>> parent_and_index) {
  SideIndex side;
  side.Add("DefaultModel");
  for (const auto& [parent, index] : parent_and_index) {
    const uint32_t id = side.Add("n");
    side.parents[id] = parent;
    side.index[id] = index;
  }
  side.Complete(0.8F);
  return side;
}

TEST(SideIndexTest, ChildrenOrderAndWorst) {
  // 0 ── 1 ── 3, 0 ── 2, 1 ── 4
  const SideIndex side = Tree({{0, 0.1F}, {0, NAN}, {1, 0.9F}, {1, 0.3F}});
  EXPECT_THAT(side.children(0), ElementsAre(1, 2));
  EXPECT_THAT(side.children(1), ElementsAre(3, 4));
  EXPECT_THAT(side.order, ElementsAre(0, 1, 3, 4, 2));
  EXPECT_FLOAT_EQ(side.worst[0], 0.9F);
  EXPECT_FLOAT_EQ(side.worst[1], 0.9F);
  EXPECT_TRUE(std::isnan(side.worst[2]));
  EXPECT_EQ(side.inside[0], 1U);
  EXPECT_EQ(side.inside[3], 0U);
}

TEST(SideIndexTest, WorstOverflowInside) {
  using enum graph::OverflowLevel;
  SideIndex side = Tree({{0, NAN}, {0, NAN}, {1, NAN}, {1, NAN}});
  side.overflow = {kNone, kMedium, kHigh, kNone, kCritical};
  side.SumUp(0.8F);
  EXPECT_THAT(side.overflow_inside, ElementsAre(kCritical, kCritical, kNone, kNone, kNone));
  EXPECT_THAT(side.overflow_count, ElementsAre(1, 1, 0, 0, 0));
}

TEST(SideIndexTest, WorstStatusInside) {
  using enum compare::NodeStatus;
  // 0 ── 1 ── 3, 4, 5; 0 ── 2 ── 6
  SideIndex side = Tree({{0, 1.F}, {0, NAN}, {1, 0.F}, {1, 1.F}, {1, 0.F}, {2, NAN}});
  side.status = {kPass, kError, kPass, kUnreadable, kWarning, kUnreadable, kUnmatched};
  side.SumUp(0.8F);
  EXPECT_THAT(side.status_inside, ElementsAre(kError, kUnreadable, kUnmatched, kUnmatched,
                                              kUnmatched, kUnmatched, kUnmatched));
  EXPECT_THAT(side.status_count, ElementsAre(1, 2, 0, 0, 0, 0, 0));
  side.status[5] = kError;  // as a match by hand changes it
  side.SumUp(0.8F);
  EXPECT_EQ(side.status_inside[1], kError);
  EXPECT_THAT(side.status_count, ElementsAre(2, 1, 0, 0, 0, 0, 0));
}

TEST(SideIndexTest, CyclesAndUnknownParentsHangUnderTheRoot) {
  const SideIndex side = Tree({{2, 0.F}, {1, 0.F}, {77, 0.F}, {4, 1.F}});
  EXPECT_EQ(side.order.size(), side.size());
  EXPECT_THAT(side.children(0), ElementsAre(1, 2, 3, 4));
}

TEST(SideIndexTest, RanksOrderSiblings) {
  SideIndex side;
  for (const uint32_t parent : {graph::kNoNode, 0U, 0U, 1U, 0U}) {
    side.parents[side.Add("n")] = parent;
  }
  side.sibling_ranks = {0, 2, 0, 0, 1};
  side.Complete(0.8F);
  EXPECT_THAT(side.children(0), ElementsAre(2, 4, 1));
  EXPECT_THAT(side.order, ElementsAre(0, 2, 4, 1, 3));
}

TEST(UnitIndexTest, PartnersAgreeOnBothSides) {
  UnitIndex unit;
  for (SideIndex* side : {&unit.target, &unit.golden}) {
    for (int i = 0; i < 4; ++i) side->parents[side->Add("n")] = 0;
  }
  unit.target.partners = {0, 1, 1, 99};
  unit.golden.partners = {graph::kNoNode, graph::kNoNode, graph::kNoNode, 3};
  unit.target.index[1] = 0.25F;
  unit.Finish(compare::CompareMode::kStatistics);
  EXPECT_THAT(unit.target.partners, ElementsAre(0, 1, graph::kNoNode, 3));
  EXPECT_THAT(unit.golden.partners, ElementsAre(0, 1, graph::kNoNode, 3));
  EXPECT_FLOAT_EQ(unit.golden.index[1], 0.25F);
}

TEST(SideIndexTest, DepthIsNoProblem) {
  SideIndex side;
  side.Add("DefaultModel");
  for (uint32_t id = 1; id < 200'000; ++id) {
    side.Add("n");
    side.parents[id] = id - 1;
  }
  side.index.back() = 1;
  side.Complete(0.8F);
  EXPECT_FLOAT_EQ(side.worst[0], 1);
  EXPECT_EQ(side.inside[0], 1U);
}

TEST(BandsTest, EveryIndexHasABand) {
  const std::vector<Band> bands = BandsOf(compare::CompareMode::kRealData);
  EXPECT_EQ(BandIndex(bands, 0), 0U);
  EXPECT_EQ(BandIndex(bands, 0.05F), 1U);
  EXPECT_EQ(BandIndex(bands, 0.2F), 4U);
  EXPECT_EQ(BandIndex(bands, 1), 4U);
  EXPECT_EQ(bands[1].label, "0.05 – 0.1");
}

TEST(UnitIndexTest, ASingleGraphHasNoPartners) {
  UnitIndex index;
  index.target.Add("DefaultModel");
  index.target.partners[0] = 7;
  index.Finish(compare::CompareMode::kStatistics);
  EXPECT_EQ(index.target.partners[0], graph::kNoNode);
}

}  // namespace
}  // namespace msprobe::visfile
