#include "viewer/open_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "viewer/api_fixture.h"

namespace msprobe::viewer {
namespace {

using fixture::Asker;
using fixture::ScratchDirectory;
using Freshness = OpenFiles::Freshness;
using testing::HasSubstr;
using testing::Not;

/// A dump of one call, put in the place of an earlier one as a collection that overwrites does.
void WriteDump(const std::filesystem::path& rank, const std::string& call) {
  std::filesystem::create_directories(rank);
  const auto replace = [&rank](const std::string& name, const std::string& text) {
    std::ofstream(rank / (name + ".tmp")) << text;
    std::filesystem::rename(rank / (name + ".tmp"), rank / name);
  };
  const std::string name = "Functional." + call + ".0.forward";
  replace(
      "dump.json",
      R"({"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{")" +
          name + R"(":{"input_args":[],"input_kwargs":{},"output":[]}}})");
  replace("construct.json", "{\"" + name + "\":null}");
  replace("stack.json", "{}");
}

class OpenDumpsTest : public testing::Test {
 protected:
  OpenDumpsTest() {
    for (const auto& root : {target_, golden_}) WriteDump(root / "step0" / "rank0", "relu");
    options_.dumps.golden = golden_;
    options_.dumps.match_mode = graph::MatchMode::kStrict;
  }
  const ScratchDirectory directory_;
  const std::filesystem::path target_ = directory_.path() / "target";
  const std::filesystem::path golden_ = directory_.path() / "golden";
  ViewerOptions options_;
};

TEST_F(OpenDumpsTest, ADumpThatIsCollectedAgainIsOpenedAnew) {
  Asker asker(target_, options_);
  EXPECT_THAT(asker.Open("."), HasSubstr(R"("unmatched":[0,0])"));
  WriteDump(target_ / "step0" / "rank0", "gelu");
  EXPECT_THAT(asker.Open("."), HasSubstr(R"("unmatched":[1,1])"));
  WriteDump(golden_ / "step0" / "rank0", "gelu");
  EXPECT_THAT(asker.Open("."), HasSubstr(R"("unmatched":[0,0])")) << "the golden side too";
  for (const auto& root : {target_, golden_}) WriteDump(root / "step0" / "rank1", "relu");
  EXPECT_THAT(asker.Open("."), HasSubstr(R"("step":0,"rank":1)"));
}

TEST_F(OpenDumpsTest, ADumpThatIsCutOffIsToldSo) {
  const std::string begin =
      R"({"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{)"
      R"("Functional.relu.0.forward":{"input_args":[],"input_kwargs":{},"output":[]},"Functional.)";
  const auto rank = target_ / "step0" / "rank0";
  std::ofstream(rank / "dump.json") << begin;
  const std::string note =
      R"("dump.json is cut off, records at its end are lost: )" + rank.string() + "\"";
  EXPECT_THAT(Asker(target_, options_).Open("."), HasSubstr(R"("notes":[)" + note + "]"));
  options_.dumps.golden.clear();
  EXPECT_THAT(Asker(target_, options_).Open("."), HasSubstr(note)) << "a graph alone";
  EXPECT_THAT(*Asker(target_, options_).api().ExportData(".", {}), HasSubstr(note)) << "a report";
}

TEST_F(OpenDumpsTest, APageOfAnEarlierStateIsToldSo) {
  Asker asker(target_, options_);
  const auto version_in = [](const std::string& open) {
    const size_t at = open.find(R"("version":")") + 11;
    return open.substr(at, open.find('"', at) - at);
  };
  const std::string before = version_in(asker.Open("."));
  const std::string rows = "file=.&u=0&t=0&g=0&v=";
  EXPECT_THAT(asker.Get("rows", rows + before), HasSubstr("relu"));
  WriteDump(target_ / "step0" / "rank0", "gelu");
  EXPECT_THAT(asker.Get("rows", rows + before), HasSubstr("relu")) << "nobody opened it anew";
  EXPECT_EQ(asker.Ask("open", "file=.&v=" + before).status, 200) << "a page that waits for others";
  const std::string now = version_in(asker.Open("."));
  EXPECT_NE(before, now);
  for (const std::string route : {"rows", "open"}) {
    const Response refused = asker.Ask(route, rows + before);
    EXPECT_EQ(refused.status, 409) << route;
    EXPECT_THAT(refused.body, HasSubstr("the file has changed since it was opened"));
  }
  EXPECT_EQ(asker.Ask("matches", "file=.&u=0&v=" + before, "POST", R"({"t":1,"g":1})").status, 409);
  EXPECT_THAT(asker.Get("rows", rows + now), HasSubstr("gelu"));
  EXPECT_EQ(version_in(Asker(target_, options_).Open(".")), now) << "of another server as well";
}

TEST_F(OpenDumpsTest, WhatIsBeingSummedUpIsNotBegunAgain) {
  for (int rank = 0; rank < 200; ++rank) {
    WriteDump(target_ / "step0" / ("rank" + std::to_string(rank)), "relu");
  }
  OpenFiles files({.threads = 1, .max_bytes = 1 << 30, .dumps = {}, .readable = {}});
  const ResolvedFile dump{target_, FileKind::kDump, {}};
  const auto first = files.Open(dump, Freshness::kNewest);
  WriteDump(target_ / "step1" / "rank0", "relu");
  ASSERT_EQ(files.Open(dump, Freshness::kNewest).open, first.open);
  while (!first.open->SummedUp()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(files.Open(dump, Freshness::kNewest).open, first.open) << "a page still waits for it";
  first.open->Told();
  EXPECT_EQ(files.Open(dump, Freshness::kAsOpened).open, first.open);
  EXPECT_NE(files.Open(dump, Freshness::kNewest).open, first.open);
}

TEST_F(OpenDumpsTest, ADamagedFirstRankDoesNotHideTheOthers) {
  for (const auto& root : {target_, golden_}) WriteDump(root / "step0" / "rank1", "relu");
  std::ofstream(target_ / "step0" / "rank0" / "dump.json") << "damaged";
  Asker asker(target_, options_);
  const std::string open = asker.Open(".");
  EXPECT_THAT(open, HasSubstr(R"("rank":0,"pending":false,"error":")"));
  EXPECT_THAT(open, HasSubstr(R"("rank":1,"micro_steps")"));
  EXPECT_THAT(asker.Get("rows", "file=.&u=1&t=0&g=0"), HasSubstr("relu"));
  std::ofstream(golden_ / "step0" / "rank1" / "dump.json") << "damaged";
  EXPECT_THAT(Asker(target_, options_).Open("."), HasSubstr("target/step0/rank0"))
      << "of all damaged ones the first is told";
}

TEST(OpenGroupsTest, UnitsKeepTheirNumbersWhenAnEarlierRankIsWritten) {
  const ScratchDirectory directory;
  const fixture::SmallComparison small;
  const auto write = [&](int rank) {
    fixture::WriteVis(small, directory.path() / ("run_rank" + std::to_string(rank) + "_1.vis"),
                      rank);
  };
  write(1);
  write(2);
  Asker asker(directory.path());
  EXPECT_THAT(asker.Open("run_rank*_1.vis"), Not(HasSubstr(R"("rank":0)")));
  write(0);
  const std::string query = "file=run_rank*_1.vis&u=0";
  const std::string free = R"({"t":3,"g":3})";
  ASSERT_EQ(asker.Ask("matches", query, "POST", free).status, 200);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "run_rank1_1.vis.matches.json"));
  EXPECT_THAT(asker.Open("run_rank*_1.vis"), HasSubstr(R"("rank":0)"));
}

}  // namespace
}  // namespace msprobe::viewer
