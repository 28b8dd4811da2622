#include "app/unit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/scratch_directory_fixture.h"

namespace msprobe::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class UnitPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    job_.target = root_ / "npu";
    job_.golden = root_ / "bench";
  }

  void MakeDump(const std::string& path) {
    fs::create_directories(root_ / path);
    base::WriteText(root_ / path / "dump.json", "{}");
  }
  std::vector<std::string> NameParts() {
    std::vector<std::string> parts;
    auto units = PlanUnits(job_, &diagnostics_);
    if (!units.ok()) return {units.status().ToString()};
    for (const PlannedUnit& unit : *units) parts.push_back(unit.name_part);
    return parts;
  }

  base::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path();
  UnitJob job_;
  base::Diagnostics diagnostics_;
};

TEST_F(UnitPlanTest, OneRankHasNoNamePart) {
  MakeDump("npu");
  MakeDump("bench");
  EXPECT_THAT(NameParts(), ElementsAre(""));
}

TEST_F(UnitPlanTest, RanksComeInNumericOrder) {
  job_.golden.clear();
  for (const char* rank : {"rank10", "rank2"}) MakeDump(std::string("npu/") + rank);
  EXPECT_THAT(NameParts(), ElementsAre("_rank2", "_rank10"));
}

TEST_F(UnitPlanTest, StepsAndRanks) {
  for (const char* unit : {"step1/rank0", "step0/rank1", "step0/rank0"}) {
    MakeDump(std::string("npu/") + unit);
    MakeDump(std::string("bench/") + unit);
  }
  EXPECT_THAT(NameParts(), ElementsAre("_step0_rank0", "_step0_rank1", "_step1_rank0"));
}

TEST_F(UnitPlanTest, ProcessNumbersDoNotReachTheName) {
  MakeDump("npu/step0/proc17");
  MakeDump("bench/step0/rank0");
  EXPECT_THAT(NameParts(), ElementsAre("_step0"));
}

TEST_F(UnitPlanTest, NoOtherWordIsAMatchMode) {
  EXPECT_EQ(ParseMatchMode("strict").value(), graph::MatchMode::kStrict);
  EXPECT_EQ(ParseMatchMode("loose").value(), graph::MatchMode::kLoose);
  EXPECT_EQ(ParseMatchMode("auto").value(), graph::MatchMode::kAuto);
  for (const char* word : {"", "Strict", "sloppy"}) {
    EXPECT_EQ(ParseMatchMode(word).status().code(), StatusCode::kInvalidArgument) << word;
  }
}

}  // namespace
}  // namespace msprobe::app
