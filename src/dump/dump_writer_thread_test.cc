// How the writing thread stands beside the threads of the program.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/scratch_directory.h"
#include "msprobe/dump_writer.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;

std::optional<int> PolicyOfWriter() {
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "msprobe-writer") return ::sched_getscheduler(std::stoi(task.path().filename()));
  }
  return std::nullopt;
}

TEST(DumpWriterThreadTest, DoesNotTakeTheProcessorFromWhoWakesIt) {
  const int own_policy = ::sched_getscheduler(0);
  const base::ScratchDirectory root("dump_writer_thread");
  DumpWriterOptions options;
  options.dump_path = root.path().string();
  options.rank = 0;
  auto writer = DumpWriter::Open(std::move(options));
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  RecordBuilder builder;
  builder.Begin("a");
  ASSERT_EQ((*writer)->Add(&builder), AddResult::kAdded);
  (*writer)->Flush();  // the thread is there, and has begun
  EXPECT_EQ(PolicyOfWriter(), own_policy == SCHED_IDLE ? SCHED_IDLE : SCHED_BATCH);
  EXPECT_EQ(::sched_getscheduler(0), own_policy);
}

}  // namespace
}  // namespace msprobe
