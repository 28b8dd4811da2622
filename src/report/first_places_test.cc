#include "report/first_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/dumps_fixture.h"

namespace msprobe::report {
namespace {

using testing::HasSubstr;

UnitSummary WithDifference(int64_t step, const std::string& name) {
  UnitSummary unit;
  unit.step = step;
  unit.first_difference.emplace().name = name;
  return unit;
}

std::string First(const std::vector<UnitSummary>& units) {
  const std::optional<PlacedNode> first = FirstDifference(units);
  return first ? first->node->name : "";
}

TEST(FirstDifference, WhatTheTolerancesHideComesLast) {
  std::vector<UnitSummary> units = {WithDifference(0, "hidden"), WithDifference(1, "seen")};
  units[0].first_difference->by_status = true;
  EXPECT_EQ(First(units), "seen");
  EXPECT_EQ(ByWhatTheyShow(units).front(), &units[1]);
  units[1].first_difference.reset();
  EXPECT_EQ(First(units), "hidden");
  units[1].culprits.emplace_back().name = "culprit";
  EXPECT_EQ(First(units), "");
}

TEST(FirstDifference, WhatAnotherRankBroughtComesAfterWhereItBegan) {
  std::vector<UnitSummary> units = {WithDifference(0, "brought"), WithDifference(0, "began")};
  units[0].first_difference->role = compare::Role::kCollective;
  units[1].first_difference->role = compare::Role::kUndecidable;
  EXPECT_EQ(First(units), "began");
}

// A number that may have been computed from noise is nobody's fault, but its row is an error.
TEST(FirstDifference, WhereOnlyTheStatusIsAnErrorItIsThatNode) {
  const auto tensor = [](const char* max) {
    return compare::TestTensor{max, "-1.0", "0.5", "4.0"}.Json();
  };
  const auto scaled = [&](const char* max, const char* scale) {
    return compare::Forward(
        {tensor("2.0"), std::string(R"({"type": "float", "value": )") + scale + "}"},
        {tensor(max)});
  };
  compare::TestDump target("target"), golden("golden");
  target.Add("Torch.sum.0.forward", "", compare::Forward({tensor("2.0")}, {tensor("3.00006")}));
  golden.Add("Torch.sum.0.forward", "", compare::Forward({tensor("2.0")}, {tensor("3.0")}));
  target.Add("Torch.mul.0.forward", "", scaled("1.00001", "0.50001"));
  golden.Add("Torch.mul.0.forward", "", scaled("1.0", "0.5"));
  compare::TestResult result = CompareDumps(target, golden);
  const compare::DivergenceReport report = compare::FindDivergences(&result.comparison);
  ASSERT_TRUE(report.divergences.empty());
  UnitSummary unit;
  SummarizeComparison(result.comparison, report, &unit);
  ASSERT_TRUE(unit.first_difference.has_value());
  EXPECT_TRUE(unit.first_difference->by_status);
  EXPECT_EQ(unit.first_difference->name, "Torch.mul.0.forward");
  EXPECT_THAT(unit.first_difference->reason, HasSubstr("argument `1` is 0.50001, golden's is 0.5"));
}

}  // namespace
}  // namespace msprobe::report
