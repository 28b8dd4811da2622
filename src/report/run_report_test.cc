#include "report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/junit_xml.h"
#include "report/left_out.h"

namespace msprobe::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

UnitSummary Compared() {
  UnitSummary unit;
  unit.compared = true;
  unit.target.nodes = unit.golden.nodes = 3;
  unit.target.matched = unit.golden.matched = 3;
  unit.bands[0] = 3;
  return unit;
}

TEST(RunReport, HintsAtAnotherMatchingWhereNamesDifferOnBothSides) {
  const auto text = [](uint64_t in_target, uint64_t in_golden, graph::MatchReason reason) {
    UnitSummary unit = Compared();
    unit.target.unmatched[static_cast<size_t>(reason)] = in_target;
    unit.golden.unmatched[static_cast<size_t>(reason)] = in_golden;
    RunReport report;
    report.units = {&unit, 1};
    return RunReportText(report);
  };
  using graph::MatchReason;
  EXPECT_THAT(text(2, 2, MatchReason::kOtherParent), HasSubstr("\n  -fm or --match auto may pair"));
  EXPECT_THAT(text(3, 2, MatchReason::kNoSuchName), HasSubstr("\n  --match auto may pair more\n"));
  EXPECT_THAT(text(9, 1, MatchReason::kNoSuchName), Not(HasSubstr("may pair")));
  EXPECT_THAT(text(9, 9, MatchReason::kNoCounterpart), Not(HasSubstr("may pair")));
}

TEST(Verdict, EachReasonByItself) {
  const auto of = [](const UnitSummary& unit) { return OverallVerdict({&unit, 1}); };
  UnitSummary unit = Compared();
  EXPECT_EQ(of(unit), Verdict::kSame);
  unit.warnings = 1;
  EXPECT_EQ(of(unit), Verdict::kSame);
  unit = Compared();
  unit.errors = 1;
  EXPECT_EQ(of(unit), Verdict::kDiverged);
  unit = Compared();
  unit.divergence_count = 1;
  EXPECT_EQ(of(unit), Verdict::kDiverged);
  unit = Compared();
  unit.left_out = 1;
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit = Compared();
  unit.golden.matched = 2;
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit = Compared();
  unit.unreadable_tensors = 1;
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit = Compared();
  unit.unreadable_records = 1;
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit = Compared();
  unit.bands[0] = 0;
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit.mode = compare::CompareMode::kStructure;
  EXPECT_EQ(of(unit), Verdict::kSame);
  unit = UnitSummary();
  unit.status = CorruptError("dump.json is damaged");
  EXPECT_EQ(of(unit), Verdict::kIncomplete);
  unit.errors = 0;
  const UnitSummary both[] = {unit, [] {
                                UnitSummary bad = Compared();
                                bad.errors = 1;
                                return bad;
                              }()};
  EXPECT_EQ(OverallVerdict(both), Verdict::kDiverged);
}

DivergedNode Node(const char* name, int64_t step, int64_t rank) {
  DivergedNode node;
  node.name = name;
  node.step = step;
  node.rank = rank;
  node.role = compare::Role::kCulprit;
  return node;
}

TEST(RunReport, FewerCommunicationsComeFirst) {
  const std::vector<UnitSummary> units(2, Compared());
  std::vector<UnitDetails> details(2);
  details[0].culprits = {Node("late", 0, 0)};
  details[0].culprits[0].clock = 3;
  details[1].culprits = {Node("early", 0, 1), Node("later", 0, 1)};
  details[1].culprits[1].clock = 4;
  const RunReport report = MakeRunReport(units, &details);
  std::vector<std::string> names;
  for (const DivergedNode& node : report.culprits) names.push_back(node.name);
  EXPECT_THAT(names, testing::ElementsAre("early", "late", "later"));
}

TEST(RunReport, TheFirstStepComesFirstThenThePlaceOfEachRank) {
  const std::vector<UnitSummary> units(3, Compared());
  std::vector<UnitDetails> details(3);
  details[0].culprits = {Node("a", 0, 0), Node("b", 0, 0)};
  details[1].culprits = {Node("c", 0, 1)};
  details[2].culprits = {Node("d", 1, 0)};
  const RunReport report = MakeRunReport(units, &details);
  std::vector<std::string> names;
  for (const DivergedNode& node : report.culprits) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("a", "c", "b", "d"));
}

TEST(RunReport, WhatMayBeAConsequenceComesLastAndIsListedOnce) {
  std::vector<UnitSummary> units(3, Compared());
  units[2].errors = 1;
  std::vector<UnitDetails> details(3);
  details[1].culprits = {Node("weight", 1, 0), Node("other weight", 1, 0)};
  for (DivergedNode& node : details[1].culprits) node.consequence = true;
  details[2].culprits = {Node("cause", 2, 0)};
  const RunReport report = MakeRunReport(units, &details);
  std::vector<std::string> names;
  for (const DivergedNode& node : report.culprits) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("cause", "weight", "other weight"));
  const std::string text = RunReportText(report);
  EXPECT_THAT(text, HasSubstr("best first (2 of 3)"));
  EXPECT_THAT(text, Not(HasSubstr("other weight")));
  EXPECT_THAT(text, Not(HasSubstr("no single node is to blame")));
}

TEST(RunReport, AStepThatDiffersWithoutACulpritComesBeforeACulpritOfALaterOne) {
  std::vector<UnitSummary> units(2, Compared());
  units[0].step = 0;
  units[0].first_difference.emplace().name = "first";
  units[0].first_difference->reason = "its inputs differ";
  units[0].divergence_count = 1;
  units[1].step = 1;
  units[1].culprits.emplace_back().name = "weight";
  std::vector<UnitDetails> details(2);
  details[1].culprits = {Node("weight", 1, 0)};
  details[1].culprits[0].consequence = true;
  RunReport report = MakeRunReport(units, &details);
  const std::string text = RunReportText(report);
  EXPECT_THAT(text, HasSubstr("no single node is to blame"));
  EXPECT_THAT(text, HasSubstr("first difference, step0: first\n      its inputs differ"));
  EXPECT_LT(text.find("first difference"), text.find("culprits of later steps"));
  EXPECT_THAT(RunReportJson(report, 0, 0), HasSubstr(R"("first_difference":{"step":0)"));
  std::swap(units[0].step, units[1].step);
  EXPECT_THAT(RunReportText(report), Not(HasSubstr("first difference")));
}

TEST(RunReport, AFailedUnitIsNotCompared) {
  std::vector<UnitSummary> units(1);
  units[0].label = "rank0";
  units[0].status = CorruptError("dump.json is damaged");
  std::vector<UnitDetails> details(1);
  const RunReport report = MakeRunReport(units, &details);
  ASSERT_EQ(report.not_compared.size(), 1U);
  EXPECT_EQ(report.not_compared[0].name, "rank0");
  EXPECT_THAT(report.not_compared[0].reason, HasSubstr("damaged"));
}

TEST(RunReportText, NamesAreHarmlessAndListsAreShort) {
  std::vector<UnitSummary> units(1, Compared());
  units[0].errors = 30;
  std::vector<UnitDetails> details(1);
  for (int i = 0; i < 30; ++i) details[0].culprits.push_back(Node("\x1b[31mred", 0, 0));
  for (int i = 0; i < 30; ++i) {
    details[0].not_compared.push_back(
        {NotCompared::Kind::kUnmatched, false, "node" + std::to_string(i), "no such name", {}, {}});
  }
  const std::string text = RunReportText(MakeRunReport(units, &details));
  EXPECT_TRUE(text.starts_with("verdict: diverged"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("(5 of 30)"));
  EXPECT_THAT(text, HasSubstr("and 27 more"));
  EXPECT_LT(text.find("culprits"), text.find("nodes "));
  EXPECT_LT(text.find("nodes "), text.find("not compared (30)"));
}

TEST(JUnit, CountsAndEscapes) {
  const JUnitSuite suite = {"rank\"0",
                            1.5,
                            {{"error", JUnitCase::Outcome::kPass, "", ""},
                             {"culprit", JUnitCase::Outcome::kFail, "a<b", "line 1\nline & 2\n"},
                             {"warning", JUnitCase::Outcome::kSkip, "not asked for", ""}}};
  const std::string xml = JUnitXml({&suite, 1});
  EXPECT_THAT(xml, HasSubstr(R"(name="rank&quot;0" tests="3" failures="1" skipped="1")"));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"a&lt;b\">line 1\nline &amp; 2\n</failure>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"not asked for\"/>"));
  EXPECT_THAT(xml, HasSubstr("name=\"error\"/>"));
}

TEST(LeftOut, OnlyWhatNobodyKnowsOfOneSide) {
  compare::Comparison comparison;
  comparison.reasons = {"", "not compared: target recorded no statistics", "the dtype differs",
                        "golden has no such parameter"};
  compare::ValueResult value;
  const auto is = [&](compare::NodeStatus status, uint32_t reason) {
    value.status = status;
    value.reason = reason;
    return IsLeftOut(comparison, value);
  };
  EXPECT_TRUE(is(compare::NodeStatus::kWarning, 1));
  EXPECT_TRUE(is(compare::NodeStatus::kWarning, 3));
  EXPECT_FALSE(is(compare::NodeStatus::kWarning, 2));
  EXPECT_FALSE(is(compare::NodeStatus::kPass, 1));
  EXPECT_FALSE(is(compare::NodeStatus::kPass, 0));
}

}  // namespace
}  // namespace msprobe::report
