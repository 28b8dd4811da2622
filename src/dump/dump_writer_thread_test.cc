// How the writing thread stands beside the threads of the program.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "base/scratch_directory_fixture.h"
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

TEST(DumpWriterThreadTest, ManyMayWaitForTheEnd) {
  const base::ScratchDirectory root("dump_writer_thread");
  for (int step = 0; step < 20; ++step) {
    DumpWriterOptions options;
    options.dump_path = root.path().string();
    options.rank = 0;
    options.step = step;
    auto opened = DumpWriter::Open(std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    DumpWriter& writer = **opened;
    RecordBuilder builder;
    for (int i = 0; step % 2 == 0 && i < 200; ++i) {  // every other step without a thread
      builder.Begin("Torch.add." + std::to_string(i) + ".forward");
      ASSERT_EQ(writer.Add(&builder), AddResult::kAdded);
    }
    const auto wait = [&] {
      while (!writer.FinishWithin(std::chrono::milliseconds(1))) {
      }
      EXPECT_TRUE(fs::exists(fs::path(writer.directory()) / "ledger.json"));
    };
    std::thread other(wait);
    wait();
    other.join();
    EXPECT_TRUE(writer.FinishWithin(std::chrono::milliseconds(0)));
    EXPECT_EQ(writer.Finish().recorded, step % 2 == 0 ? 200u : 0u);
  }
}

}  // namespace
}  // namespace msprobe
