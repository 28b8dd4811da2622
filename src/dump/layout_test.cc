#include "dump/layout.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_directory_fixture.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;

class LayoutTest : public testing::Test {
 protected:
  fs::path Make(const std::string& root, const std::vector<std::string>& dumps) {
    fs::create_directories(base_ / root);
    for (const std::string& dump : dumps) {
      fs::create_directories(base_ / root / dump);
      for (const char* file : {"dump.json", "stack.json", "construct.json"}) {
        base::WriteText(base_ / root / dump / file, "{}");
      }
    }
    return base_ / root;
  }
  DumpTree Find(const fs::path& root) {
    auto tree = FindDumpUnits(root, &diagnostics_);
    EXPECT_TRUE(tree.ok()) << tree.status().ToString();
    return tree.ok() ? *tree : DumpTree{};
  }
  Status FindError(const fs::path& root) {
    auto tree = FindDumpUnits(root, &diagnostics_);
    return tree.ok() ? Status::Ok() : tree.status();
  }
  /// Pairs "target golden" below the two roots, or the fact of the error.
  std::vector<std::string> Pairs(const fs::path& target, const fs::path& golden) {
    auto pairs = PairUnits(Find(target), Find(golden));
    if (!pairs.ok()) return {pairs.status().fact()};
    std::vector<std::string> names;
    for (const UnitPair& pair : *pairs) {
      names.push_back(fs::relative(pair.target.directory, target).string() + " " +
                      fs::relative(pair.golden.directory, golden).string());
    }
    return names;
  }
  base::ScratchDirectory scratch_;
  fs::path base_ = scratch_.path();
  base::Diagnostics diagnostics_;
};

using Names = std::vector<std::string>;

TEST_F(LayoutTest, ADirectoryWithDumpFilesIsOneRank) {
  const fs::path root = Make("a", {"."});
  fs::create_directories(root / "dump_tensor_data");
  for (const char* name :
       {"ledger.json", "dump.json.torn", "dump.json.torn_1", "stack.json.tmp41_2"}) {
    std::ofstream(root / name) << "{}";
  }
  const DumpTree tree = Find(root);
  EXPECT_EQ(tree.kind, LayoutKind::kSingle);
  ASSERT_EQ(tree.units.size(), 1u);
  EXPECT_EQ(tree.units[0].directory, root);
  EXPECT_FALSE(tree.units[0].rank.has_value());
  EXPECT_TRUE(diagnostics_.entries().empty());
}

TEST_F(LayoutTest, NamesInADirectory) {
  for (const char* name : {"dump.json", "dump_tensor_data", "ledger.json"}) {
    EXPECT_EQ(KindOfUnitFile(name), UnitFile::kRecorded) << name;
  }
  EXPECT_EQ(KindOfUnitFile("debug.json.tmp41_2"), UnitFile::kTemporary);
  EXPECT_EQ(KindOfUnitFile("dump.json.torn"), UnitFile::kTornCopy);
  EXPECT_EQ(KindOfUnitFile("dump.json.torn_12"), UnitFile::kTornCopy);
  for (const char* name :
       {"", ".", "dump", "dump.json.", "dump.json.tmp", "dump.json.tmp4", "dump.json.tmp4_",
        "dump.json.tmp_4", "dump.json.tmp4_2x", "dump.json.tmpl", "dump.json.torn_",
        "dump.json.torn_x", "dump.json.torn.old", "a.tmp4_2", "dump.json5"}) {
    EXPECT_EQ(KindOfUnitFile(name), UnitFile::kForeign) << name;
  }
}

TEST_F(LayoutTest, OneOfTheThreeFilesIsEnough) {
  fs::create_directories(base_ / "a");
  std::ofstream(base_ / "a" / "stack.json") << "{}";
  EXPECT_EQ(Find(base_ / "a").kind, LayoutKind::kSingle);
}

TEST_F(LayoutTest, RanksComeInNumericOrder) {
  const DumpTree tree = Find(Make("a", {"rank10", "rank2", "rank0"}));
  EXPECT_EQ(tree.kind, LayoutKind::kRanks);
  ASSERT_EQ(tree.units.size(), 3u);
  EXPECT_EQ(tree.units[0].rank, 0);
  EXPECT_EQ(tree.units[1].rank, 2);
  EXPECT_EQ(tree.units[2].rank, 10);
  EXPECT_FALSE(tree.units[2].step.has_value());
}

TEST_F(LayoutTest, StepsHoldRanksProcessesOrTheFilesThemselves) {
  const DumpTree tree = Find(Make("a", {"step10/rank1", "step10/rank0", "step9/proc77", "step3"}));
  EXPECT_EQ(tree.kind, LayoutKind::kSteps);
  ASSERT_EQ(tree.units.size(), 4u);
  EXPECT_EQ(tree.units[0].step, 3);
  EXPECT_FALSE(tree.units[0].rank.has_value());
  EXPECT_EQ(tree.units[1].step, 9);
  EXPECT_EQ(tree.units[1].rank, 77);
  EXPECT_TRUE(tree.units[1].is_process);
  EXPECT_EQ(tree.units[2].rank, 0);
  EXPECT_EQ(tree.units[3].rank, 1);
}

TEST_F(LayoutTest, ForeignEntriesAreReportedAndSkipped) {
  const fs::path root =
      Make("a", {"rank0", "rank1", "notes", "ranks", "rank01", "rank-1", "rankx"});
  std::ofstream(root / "rank2") << "a file";
  EXPECT_EQ(Find(root).units.size(), 2u);
  EXPECT_EQ(diagnostics_.count(base::DiagnosticKind::kForeignEntry), 6u);
  EXPECT_EQ(diagnostics_.entries()[0].status.fact(), "notes does not belong into a dump: left out");
}

TEST_F(LayoutTest, AnEmptyStepIsReported) {
  const fs::path root = Make("a", {"step0/rank0"});
  fs::create_directories(root / "step1");
  EXPECT_EQ(Find(root).units.size(), 1u);
  EXPECT_EQ(diagnostics_.entries()[0].status.fact(), "step1 holds no dump: left out");
}

TEST_F(LayoutTest, MixedKindsAreAnError) {
  EXPECT_EQ(FindError(Make("a", {"rank0", "step0/rank0"})).fact(),
            "the directory mixes rank folders, step folders");
  EXPECT_EQ(FindError(Make("b", {".", "rank0"})).fact(),
            "the directory mixes dump files, rank folders");
  EXPECT_EQ(FindError(Make("c", {"step1/rank0", "step1/proc5"})).fact(),
            "the directory mixes rank folders, proc folders");
  EXPECT_EQ(FindError(Make("d", {"step1/step2"})).fact(), "a step folder holds step folders");
}

TEST_F(LayoutTest, SeveralProcessesInOneStepAreAnErrorThatListsThem) {
  const Status status = FindError(Make("a", {"step0/proc12", "step0/proc7"}));
  EXPECT_EQ(status.fact(), "several runs lie in one directory: proc7, proc12");
  EXPECT_EQ(status.path(), (base_ / "a/step0").string());
}

TEST_F(LayoutTest, WhatIsNoDumpIsSaidClearly) {
  EXPECT_EQ(FindError(base_ / "none").code(), StatusCode::kNotFound);
  std::ofstream(base_ / "file") << "x";
  EXPECT_EQ(FindError(base_ / "file").fact(), "a dump is a directory, this is a file");
  EXPECT_EQ(FindError(base_ / "file" / "below").code(), StatusCode::kNotFound);
  fs::create_directories(base_ / "empty");
  EXPECT_EQ(FindError(base_ / "empty").fact(), "the directory is empty");
  fs::create_directories(base_ / "other/notes");
  EXPECT_EQ(FindError(base_ / "other").fact(), "the directory holds no dump");
  fs::create_directories(base_ / "hollow/step0");
  EXPECT_EQ(FindError(base_ / "hollow").fact(), "the directory holds no dump");
}

TEST_F(LayoutTest, ARankFolderWithoutNumberIsAProcess) {
  const DumpTree tree = Find(Make("a", {"step0/rank"}));
  ASSERT_EQ(tree.units.size(), 1u);
  EXPECT_TRUE(tree.units[0].is_process);
  EXPECT_FALSE(tree.units[0].rank.has_value());
  EXPECT_EQ(Pairs(Make("t", {"step0/rank"}), Make("g", {"step0/proc9"})),
            Names{"step0/rank step0/proc9"});
  EXPECT_EQ(Pairs(Make("t2", {"rank"}), Make("g2", {"rank1"})),
            Names{"golden has no rank; target has no rank1"});
}

TEST_F(LayoutTest, PathsWithAnyCharactersAndLinksWork) {
  const fs::path root = Make("a b+漢", {"rank0"});
  fs::create_directory_symlink(root, base_ / "link");
  fs::create_directory_symlink(root / "rank0", root / "rank1");
  EXPECT_EQ(Find(base_ / "link").units.size(), 2u);
}

TEST_F(LayoutTest, PairsByStepAndRank) {
  EXPECT_EQ(Pairs(Make("t", {"."}), Make("g", {"."})), Names{". ."});
  EXPECT_EQ(Pairs(Make("t2", {"rank1", "rank0"}), Make("g2", {"rank0", "rank1"})),
            (Names{"rank0 rank0", "rank1 rank1"}));
  EXPECT_EQ(Pairs(Make("t3", {"step1/rank1", "step1/rank0", "step0"}),
                  Make("g3", {"step0", "step1/rank0", "step1/rank1"})),
            (Names{"step0 step0", "step1/rank0 step1/rank0", "step1/rank1 step1/rank1"}));
}

TEST_F(LayoutTest, NamesWhatIsMissing) {
  EXPECT_EQ(Pairs(Make("t", {"rank0", "rank2"}), Make("g", {"rank0", "rank3"})),
            Names{"golden has no rank2; target has no rank3"});
  EXPECT_EQ(Pairs(Make("t2", {"step0/rank0", "step1/rank0"}), Make("g2", {"step0/rank0"})),
            Names{"golden has no step1"});
  EXPECT_EQ(Pairs(Make("t3", {"step0/rank0"}), Make("g3", {"step0/rank0", "step0/rank1"})),
            Names{"target has no step0/rank1"});
  Names many;
  for (int i = 1; i <= 12; ++i) many.push_back("rank" + std::to_string(i));
  many.push_back("rank0");
  EXPECT_EQ(
      Pairs(Make("t4", many), Make("g4", {"rank0"})),
      Names{"golden has no rank1, rank2, rank3, rank4, rank5, rank6, rank7, rank8 and 4 more"});
}

TEST_F(LayoutTest, KindsMustBeTheSame) {
  EXPECT_EQ(Pairs(Make("t", {"."}), Make("g", {"rank0"})),
            Names{"target is the dump of one rank, golden is rank folders"});
}

TEST_F(LayoutTest, ALoneProcessGoesWithALoneProcessOrRankZero) {
  EXPECT_EQ(Pairs(Make("t", {"step0/proc5"}), Make("g", {"step0/proc99"})),
            Names{"step0/proc5 step0/proc99"});
  EXPECT_EQ(Pairs(Make("t2", {"proc5"}), Make("g2", {"rank0"})), Names{"proc5 rank0"});
  EXPECT_EQ(Pairs(Make("t3", {"rank0"}), Make("g3", {"proc5"})), Names{"rank0 proc5"});
  EXPECT_EQ(Pairs(Make("t4", {"proc5"}), Make("g4", {"rank1"})),
            Names{"golden has no proc5; target has no rank1"});
  EXPECT_EQ(Pairs(Make("t5", {"proc0"}), Make("g5", {"rank0", "rank1"})),
            Names{"golden has no proc0; target has no rank0, rank1"});
}

}  // namespace
}  // namespace msprobe::dump
