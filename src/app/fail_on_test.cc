#include "app/fail_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/file.h"
#include "report/unit_details.h"

namespace msprobe::app {
namespace {

int ExitCode(const std::vector<report::UnitSummary>& units, const std::vector<FailLevel>& fail_on) {
  return app::ExitCode(units, fail_on, nullptr);
}

std::vector<report::UnitSummary> OneUnit(const report::UnitSummary& unit) { return {unit}; }

report::UnitSummary ComparedUnit() {
  report::UnitSummary unit;
  unit.compared = true;
  unit.target.nodes = unit.golden.nodes = 5;
  unit.target.matched = unit.golden.matched = 5;
  return unit;
}

TEST(FailOnTest, ParsesCommaLists) {
  const auto levels = ParseFailOn("error,culprit");
  ASSERT_TRUE(levels.ok());
  EXPECT_THAT(*levels, testing::ElementsAre(FailLevel::kError, FailLevel::kCulprit));
  EXPECT_EQ(ParseFailOn("eror").status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ParseFailOn("eror").status().advice(), testing::HasSubstr("'error'"));
  EXPECT_FALSE(ParseFailOn("").ok());
  EXPECT_FALSE(ParseFailOn("error,").ok());
}

TEST(FailOnTest, EachLevelLooksAtItsOwnCount) {
  report::UnitSummary unit = ComparedUnit();
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kError, FailLevel::kWarning, FailLevel::kUnmatched,
                                     FailLevel::kUnreadable, FailLevel::kCulprit}),
            0);
  unit.warnings = 1;
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kError}), 0);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kWarning}), 1);
  unit = ComparedUnit();
  unit.errors = 1;
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kError}), 1);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kWarning}), 1);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kCulprit}), 0);
  unit = ComparedUnit();
  unit.golden.matched = 4;
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kUnmatched}), 1);
  unit = ComparedUnit();
  unit.culprit_count = 1;
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kCulprit}), 1);
}

TEST(FailOnTest, DivergedIsWhatTheVerdictSays) {
  report::UnitSummary unit = ComparedUnit();
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kDiverged}), 0);
  unit.divergence_count = 1;  // no node is to blame
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kCulprit}), 0);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kDiverged}), 1);
  unit = ComparedUnit();
  unit.errors = 1;
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kDiverged}), 1);
  EXPECT_EQ(report::OverallVerdict(OneUnit(unit)), report::Verdict::kDiverged);
  unit = ComparedUnit();
  unit.golden.matched = 4;  // incomplete
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kDiverged}), 0);
}

TEST(FailOnTest, DivergenceComesBeforeUnreadableTensors) {
  report::UnitSummary unit = ComparedUnit();
  unit.unreadable_tensors = 2;
  unit.errors = 1;
  EXPECT_EQ(ExitCode(OneUnit(unit), {}), 3);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kError}), 1);
  EXPECT_EQ(ExitCode(OneUnit(unit), {FailLevel::kUnreadable}), 1);
}

TEST(FailOnTest, TooLittleMemoryIsAFailureAndNoBadInput) {
  EXPECT_EQ(app::ExitCode(OutOfMemoryError("use fewer threads")), 4);
  EXPECT_EQ(app::ExitCode(base::ReadError("cannot open the file", EACCES, "dump.json")), 2);
  EXPECT_EQ(app::ExitCode(base::ReadError("cannot open the file", EIO, "dump.json")), 4);
}

TEST(FailOnTest, ADamagedUnitDoesNotHideWhatOthersFound) {
  std::vector<report::UnitSummary> units = OneUnit(ComparedUnit());
  units[0].culprit_count = 1;
  units.push_back({});
  units.back().status = CorruptError("dump.json is damaged");
  EXPECT_EQ(ExitCode(units, {FailLevel::kCulprit}), 1);
  EXPECT_EQ(ExitCode(units, {FailLevel::kUnreadable}), 2);
  units.back().status = IoError("cannot write the file", 28);
  EXPECT_EQ(ExitCode(units, {FailLevel::kCulprit}), 4);
}

TEST(FailOnTest, AFailedUnitDecides) {
  std::vector<report::UnitSummary> units = OneUnit(ComparedUnit());
  units.push_back({});
  units.back().status = CorruptError("dump.json is damaged");
  EXPECT_EQ(ExitCode(units, {}), 2);
  units.push_back({});
  units.back().status = IoError("cannot write the file", 28);
  EXPECT_EQ(ExitCode(units, {}), 4);
}

}  // namespace
}  // namespace msprobe::app
