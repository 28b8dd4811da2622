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
  report.masked_records = 2;
  EXPECT_TRUE(OverflowText(report).starts_with(
      "no overflow: 2 records hold -Inf that is meant, as a mask does; all other values are "
      "finite\n"));
  report.masked_records = 0;
  report.unreadable_records = 1;
  EXPECT_TRUE(OverflowText(report).starts_with("no overflow in what could be read\n"));
  EXPECT_NE(OverflowText(report).find(", 1 records unreadable\n"), std::string::npos);
  report.cut_off = 1;
  const std::string text = OverflowText(report);
  EXPECT_EQ(text.find("records unreadable"), std::string::npos) << text;
  EXPECT_NE(text.find(", 1 dump.json is cut off: records at the end are lost\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace msprobe::report
