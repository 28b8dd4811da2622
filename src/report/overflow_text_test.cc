#include <gtest/gtest.h>

#include "report/overflow_report.h"

namespace msprobe::report {
namespace {

TEST(OverflowText, ListsRanksInRuns) {
  EXPECT_EQ(RankList({}), "");
  EXPECT_EQ(RankList({3}), "3");
  EXPECT_EQ(RankList({0, 1}), "0, 1");
  EXPECT_EQ(RankList({0, 1, 2, 5, 7, 8, 9}), "0-2, 5, 7-9");
}

TEST(OverflowText, NothingFoundIsSaidFirst) {
  OverflowReport report;
  report.ranks = 1;
  EXPECT_TRUE(OverflowText(report).starts_with("no overflow: all recorded values are finite\n"));
  report.unreadable_records = 1;
  EXPECT_TRUE(OverflowText(report).starts_with("no overflow in what could be read\n"));
}

}  // namespace
}  // namespace msprobe::report
