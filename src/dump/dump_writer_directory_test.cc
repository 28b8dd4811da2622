// What lies in a directory already, and what becomes of it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "dump/dump_writer_fixture.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;
using dump::fixture::AddPlain;
using dump::fixture::MustOpen;
using testing::HasSubstr;

class DumpWriterDirectoryTest : public dump::fixture::WritesDumps {};

TEST_F(DumpWriterDirectoryTest, EarlierRunIsRefusedOrReplaced) {
  MustOpen(Options())->Finish();
  const fs::path unit = root_ / "step0" / "rank0";
  std::ofstream(unit / "dump.json.tmp41_2") << "what a kill has left";
  fs::create_directories(unit / "dump_tensor_data.tmp_keep");
  fs::create_directories(unit / "dump_tensor_data.tmp1_2");
  const std::vector<std::string> theirs = {"dump.json5",
                                           "ledger.json.tmpl",
                                           "dump.json.torn",
                                           "stack.json.torn_1",
                                           "dump_tensor_data.tmp_keep/a.pt",
                                           "dump_tensor_data.tmp1_2/a.pt"};
  for (const std::string& name : theirs) std::ofstream(unit / name) << "theirs";
  auto again = DumpWriter::Open(Options());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(again.status().ToString(), HasSubstr("overwrite: true"));
  std::string warning;
  EXPECT_FALSE(PrepareDumpPath(root_.string(), 0, false, &warning).ok());
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 1, false, &warning).ok());
  DumpWriterOptions options = Options();
  options.overwrite = true;
  auto writer = MustOpen(options);
  EXPECT_FALSE(fs::exists(unit / "ledger.json"));
  EXPECT_FALSE(fs::exists(unit / "dump.json.tmp41_2"));
  for (const std::string& name : theirs) EXPECT_TRUE(fs::exists(unit / name)) << name;
  RecordBuilder builder;
  for (int flushed = 0; flushed < 3; ++flushed) {
    auto second = DumpWriter::Open(options);  // while the first is at work
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.status().ToString(), HasSubstr("each process its own rank"));
    EXPECT_EQ(AddPlain(writer.get(), &builder, "Torch.add." + std::to_string(flushed) + ".forward"),
              AddResult::kAdded);
    writer->Flush();
  }
  writer->Finish();
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 0, true, &warning).ok());
  EXPECT_FALSE(fs::exists(unit / "dump.json"));
}

TEST_F(DumpWriterDirectoryTest, WhatAKillLeftBeforeThereWasADumpDoesNotMatter) {
  const fs::path unit = root_ / "step0" / "rank0";
  fs::create_directories(unit);
  const fs::path left = unit / "dump.json.tmp41_2";
  std::ofstream(left) << "{";
  const int fd = ::open(left.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  auto refused = DumpWriter::Open(Options());  // it is being begun
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().ToString(), HasSubstr("each process its own rank"));
  ::close(fd);
  MustOpen(Options())->Finish();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(unit / "dump.json"));
}

TEST_F(DumpWriterDirectoryTest, StepsThatNobodyAskedForDoNotMatter) {
  std::ofstream(fs::path(root_) / "step9") << "a file";
  std::string warning;
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 0, false, &warning).ok());
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 0, true, &warning).ok());
  if (::geteuid() == 0) return;  // who may read everything
  fs::create_directories(root_ / "step7" / "rank0");
  ::chmod((root_ / "step7" / "rank0").c_str(), 0);
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 0, false, &warning).ok());
  EXPECT_FALSE(PrepareDumpPath(root_.string(), 0, true, &warning).ok());
  ::chmod((root_ / "step7" / "rank0").c_str(), 0700);
}

TEST_F(DumpWriterDirectoryTest, OverwriteReplacesTheDumpsOfProcessesThatHaveEnded) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const fs::path ended = root_ / "step3" / ("proc" + std::to_string(child));
  const fs::path running = root_ / "step3" / ("proc" + std::to_string(::getppid()));
  for (const fs::path& directory : {ended, running}) {
    fs::create_directories(directory / "dump_tensor_data");
    std::ofstream(directory / "dump.json") << "{}";
  }
  std::string warning;
  EXPECT_TRUE(PrepareDumpPath(root_.string(), std::nullopt, false, &warning).ok());
  EXPECT_TRUE(fs::exists(ended / "dump.json"));
  EXPECT_TRUE(PrepareDumpPath(root_.string(), 0, true, &warning).ok());
  EXPECT_TRUE(fs::exists(ended / "dump.json")) << "a rank replaces ranks";
  EXPECT_TRUE(PrepareDumpPath(root_.string(), std::nullopt, true, &warning).ok());
  EXPECT_FALSE(fs::exists(ended));
  EXPECT_TRUE(fs::exists(running / "dump.json"));
  EXPECT_THAT(warning, HasSubstr("1 proc<PID> dumps of other processes that still run"));
  // A file of the user's.
  fs::create_directories(ended);
  std::ofstream(ended / "dump.json") << "{}";
  std::ofstream(ended / "notes.txt") << "mine";
  EXPECT_TRUE(PrepareDumpPath(root_.string(), std::nullopt, true, &warning).ok());
  EXPECT_FALSE(fs::exists(ended / "dump.json"));
  EXPECT_TRUE(fs::exists(ended / "notes.txt"));
}

TEST_F(DumpWriterDirectoryTest, OlderProcessDumpsAreNamedButAllowed) {
  fs::create_directories(root_ / "step0" / "proc1");
  std::ofstream(root_ / "step0" / "proc1" / "dump.json") << "{}";
  std::string warning;
  EXPECT_TRUE(PrepareDumpPath(root_.string(), std::nullopt, false, &warning).ok());
  EXPECT_THAT(warning, HasSubstr("1 proc<PID>"));
}

}  // namespace
}  // namespace msprobe
