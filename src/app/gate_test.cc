#include "app/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace msprobe::app {
namespace {

using report::NotCompared;
using testing::ElementsAre;
using testing::HasSubstr;

class GateTest : public testing::Test {
 protected:
  GateTest() : units_(1) {
    units_[0].compared = true;
    units_[0].target.nodes = units_[0].golden.nodes = 3;
    units_[0].target.matched = units_[0].golden.matched = 3;
    report_.units = units_;
  }
  ~GateTest() override { std::filesystem::remove(path_); }

  void Allow(const std::string& text) {
    std::ofstream(path_) << text;
    auto list = AllowList::Load(path_);
    ASSERT_TRUE(list.ok()) << list.status().ToString();
    gate_.allow = std::move(list).value();
  }
  void Skip(NotCompared::Kind kind, const std::string& name) {
    report_.not_compared.push_back({kind, false, name, "why", {}, {}});
    if (kind == NotCompared::Kind::kUnmatched) ++units_[0].target.nodes;
    if (kind == NotCompared::Kind::kUnreadable) ++units_[0].unreadable_tensors;
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("allow_" + std::to_string(::getpid()) + ".yaml");
  std::vector<report::UnitSummary> units_;
  report::RunReport report_;
  Gate gate_;
};

TEST_F(GateTest, WithoutAListTheCountsDecide) {
  Skip(NotCompared::Kind::kUnmatched, "a");
  EXPECT_EQ(Judge(gate_, report_).exit_code, 0);
  gate_.fail_on = {FailLevel::kUnmatched};
  EXPECT_EQ(Judge(gate_, report_).exit_code, 1);
}

TEST_F(GateTest, KnownSkipsDoNotCount) {
  Skip(NotCompared::Kind::kUnmatched, "a");
  Skip(NotCompared::Kind::kUnreadable, "b.output.0");
  Allow("allow:\n  - {name: a, reason: r}\n  - {name: 'b.*', reason: r}\n");
  gate_.fail_on = {FailLevel::kUnmatched, FailLevel::kUnreadable};
  const GateVerdict verdict = Judge(gate_, report_);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(verdict.notes.empty());
}

TEST_F(GateTest, OthersFailAndStaleEntriesAreNamed) {
  Skip(NotCompared::Kind::kLeftOut, "new");
  Allow("allow:\n  - {name: old, reason: r}\n  - {name: '*older*', reason: r}\n");
  const GateVerdict verdict = Judge(gate_, report_);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.notes, ElementsAre(HasSubstr("new (left out: why)"), HasSubstr("'old'"),
                                         HasSubstr("'*older*'")));
}

TEST_F(GateTest, AnEntryOfTheListHasOneReason) {
  const auto list = AllowList::Parse("allow:\n- name: a\n  reason: r\n  reason: s\n", "a.yaml");
  EXPECT_EQ(list.status().ToString(),
            "line 4 of the allow-list: 'reason' stands twice; leave one of the two out: a.yaml");
}

TEST_F(GateTest, OtherLevelsStayAsTheyAre) {
  units_[0].culprit_count = 1;
  Allow("allow:\n");
  EXPECT_EQ(Judge(gate_, report_).exit_code, 0);
  gate_.fail_on = {FailLevel::kCulprit};
  EXPECT_EQ(Judge(gate_, report_).exit_code, 1);
}

TEST_F(GateTest, OverlappingEntriesAreAllNeeded) {
  Skip(NotCompared::Kind::kUnmatched, "a.b");
  Allow("allow:\n  - {name: a.b, reason: r}\n  - {name: 'a.*', reason: r}\n");
  EXPECT_TRUE(Judge(gate_, report_).notes.empty());
}

TEST_F(GateTest, JUnitFailsOnlyWhatIsAskedFor) {
  Skip(NotCompared::Kind::kUnmatched, "a");
  units_[0].warnings = 2;
  gate_.junit = "report.xml";
  gate_.fail_on = {FailLevel::kUnmatched};
  const GateVerdict verdict = Judge(gate_, report_);
  ASSERT_EQ(verdict.suites.size(), 1U);
  std::vector<std::string> failed;
  std::vector<std::string> skipped;
  for (const report::JUnitCase& one : verdict.suites[0].cases) {
    if (one.outcome == report::JUnitCase::Outcome::kFail) failed.push_back(one.name);
    if (one.outcome == report::JUnitCase::Outcome::kSkip) skipped.push_back(one.name);
  }
  EXPECT_THAT(failed, ElementsAre("unmatched"));
  EXPECT_THAT(skipped, ElementsAre("warning"));
}

const report::JUnitCase& CaseOf(const report::JUnitSuite& suite, std::string_view name) {
  const auto found = std::ranges::find(suite.cases, name, &report::JUnitCase::name);
  if (found != suite.cases.end()) return *found;
  ADD_FAILURE() << "no case " << name;
  static const report::JUnitCase none;
  return none;
}

TEST_F(GateTest, JUnitListsOfEachUnitOnlyItsOwn) {
  units_.resize(2, units_[0]);
  for (const int64_t rank : {0, 1}) {
    units_[rank].rank = rank;
    units_[rank].culprit_count = 1;
    Skip(NotCompared::Kind::kUnreadable, "skipped" + std::to_string(rank));
    report_.not_compared.back().rank = rank;
    report_.culprits.emplace_back().name = "culprit" + std::to_string(rank);
    report_.culprits.back().rank = rank;
  }
  units_[1].unreadable_tensors = 1;
  report_.units = units_;
  gate_.junit = "report.xml";
  const GateVerdict verdict = Judge(gate_, report_);
  ASSERT_EQ(verdict.suites.size(), 2U);
  EXPECT_EQ(CaseOf(verdict.suites[1], "unreadable").text, "skipped1: why\n");
  EXPECT_EQ(CaseOf(verdict.suites[1], "culprit").text, "culprit1: \n");
}

TEST_F(GateTest, JUnitNamesTheFirstDifferenceWhereNobodyIsToBlame) {
  units_[0].divergence_count = 4;
  units_[0].first_difference.emplace().name = "first";
  units_[0].first_difference->reason = "its inputs differ";
  report_.units = units_;
  gate_.junit = "report.xml";
  gate_.fail_on = {FailLevel::kDiverged};
  const report::JUnitCase one = CaseOf(Judge(gate_, report_).suites.at(0), "diverged");
  EXPECT_EQ(one.outcome, report::JUnitCase::Outcome::kFail);
  EXPECT_EQ(one.message, "diverged: 4");
  EXPECT_EQ(one.text, "first: its inputs differ\n");
}

TEST_F(GateTest, JUnitListsWhatTheAllowListDoesNotKnow) {
  Skip(NotCompared::Kind::kUnmatched, "known");
  for (int i = 0; i < 23; ++i) {
    Skip(NotCompared::Kind::kUnmatched, "new." + std::to_string(i));
  }
  Allow("allow:\n  - {name: known, reason: r}\n");
  gate_.junit = "report.xml";
  const GateVerdict verdict = Judge(gate_, report_);
  EXPECT_EQ(verdict.exit_code, 1);
  ASSERT_EQ(verdict.suites.size(), 1U);
  const report::JUnitCase& one = CaseOf(verdict.suites[0], "allow-list");
  EXPECT_EQ(one.outcome, report::JUnitCase::Outcome::kFail);
  EXPECT_EQ(one.message, "23 nodes not in the allow-list");
  EXPECT_TRUE(one.text.starts_with("new.0: why\nnew.1: why\n")) << one.text;
  EXPECT_TRUE(one.text.ends_with("new.19: why\nand 3 more\n")) << one.text;
}

TEST_F(GateTest, JUnitPassesWhatTheAllowListKnows) {
  Skip(NotCompared::Kind::kUnreadable, "b.output.0");
  gate_.junit = "report.xml";
  gate_.fail_on = {FailLevel::kUnreadable};
  GateVerdict verdict = Judge(gate_, report_);
  EXPECT_EQ(CaseOf(verdict.suites.at(0), "unreadable").outcome, report::JUnitCase::Outcome::kFail);
  EXPECT_EQ(CaseOf(verdict.suites.at(0), "unreadable").text, "b.output.0: why\n");
  Allow("allow:\n  - {name: 'b.*', reason: r}\n");
  verdict = Judge(gate_, report_);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(CaseOf(verdict.suites.at(0), "unreadable").outcome, report::JUnitCase::Outcome::kPass);
  EXPECT_EQ(CaseOf(verdict.suites.at(0), "allow-list").outcome, report::JUnitCase::Outcome::kPass);
}

TEST_F(GateTest, JUnitSaysWhyARankWasNotCompared) {
  units_[0] = {};
  units_[0].step = 0;
  units_[0].rank = 3;
  units_[0].status = CorruptError("dump.json is damaged", "record it again", "rank3/dump.json");
  gate_.junit = "report.xml";
  const GateVerdict verdict = Judge(gate_, report_);
  EXPECT_EQ(verdict.exit_code, 2);
  ASSERT_EQ(verdict.suites.size(), 1U);
  EXPECT_EQ(verdict.suites[0].name, "step0/rank3");
  ASSERT_EQ(verdict.suites[0].cases.size(), 1U) << "nothing else is known of it";
  EXPECT_EQ(verdict.suites[0].cases[0].outcome, report::JUnitCase::Outcome::kFail);
  EXPECT_EQ(verdict.suites[0].cases[0].message,
            "dump.json is damaged; record it again: rank3/dump.json");
}

}  // namespace
}  // namespace msprobe::app
