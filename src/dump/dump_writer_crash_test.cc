// What is left of a dump when the process is killed, and what a forked child does.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "base/scratch_directory_fixture.h"
#include "dump/rank_dump.h"
#include "formats/tensor_file.h"
#include "msprobe/dump_writer.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;

class DumpWriterCrashTest : public testing::Test {
 protected:
  DumpWriterOptions Options(int64_t step) const {
    DumpWriterOptions options;
    options.dump_path = root_.string();
    options.step = step;
    options.rank = 0;
    options.level = "mix";
    options.task = "tensor";
    return options;
  }

  base::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path();
};

void AddRecord(DumpWriter* writer, RecordBuilder* builder, uint64_t index) {
  const std::string name = "Torch.add." + std::to_string(index) + ".forward";
  const int64_t values[] = {static_cast<int64_t>(index), 1, 2};
  const int64_t shape[] = {3};
  const TensorView view{
      reinterpret_cast<const std::byte*>(values), DType::kInt64, false, false, shape, {}};
  const TensorSummary summary = Summarize(view, SummaryMode::kStatistics);
  TensorDescription tensor;
  tensor.dtype = "torch.int64";
  tensor.shape = shape;
  tensor.summary = &summary;
  tensor.contents = index % 16 == 0 ? &view : nullptr;
  writer->AddConstruct(name, {});
  builder->Begin(name);
  builder->BeginObject();
  builder->BeginList("input_args");
  for (int i = 0; i < 5; ++i) builder->Tensor({}, tensor);
  writer->Add(builder);
}

/// Records until it is killed; tells through the pipe how many records have been flushed.
[[noreturn]] void RecordForever(DumpWriterOptions options, int pipe, uint32_t seed) {
  std::mt19937 random(seed);
  auto writer = DumpWriter::Open(std::move(options));
  if (!writer.ok()) ::_exit(1);
  RecordBuilder builder;
  for (uint64_t index = 0;; ++index) {
    AddRecord(writer->get(), &builder, index);
    if (random() % 40 != 0) continue;
    (*writer)->Flush();
    const uint64_t flushed = index + 1;
    if (TEMP_FAILURE_RETRY(::write(pipe, &flushed, sizeof(flushed))) < 0) ::_exit(1);
  }
}

uint64_t LastNumber(int pipe) {
  uint64_t last = 0;
  uint64_t number = 0;
  while (TEMP_FAILURE_RETRY(::read(pipe, &number, sizeof(number))) > 0) last = number;
  return last;
}

TEST_F(DumpWriterCrashTest, KillLosesNothingThatWasFlushed) {
  std::mt19937 random(1);
  uint64_t total = 0;
  for (int round = 0; round < 100; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      RecordForever(Options(round), ends[1], static_cast<uint32_t>(round));
    }
    ::close(ends[1]);
    // Not before the child has flushed something.
    uint64_t first = 0;
    ASSERT_GT(TEMP_FAILURE_RETRY(::read(ends[0], &first, sizeof(first))), 0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const uint64_t flushed = std::max(first, LastNumber(ends[0]));
    ::close(ends[0]);

    base::Diagnostics diagnostics;
    const fs::path unit = root_ / ("step" + std::to_string(round)) / "rank0";
    auto dump = dump::RankDump::Open(unit, {}, &diagnostics);
    ASSERT_TRUE(dump.ok()) << dump.status().ToString();
    ASSERT_GE((*dump)->entry_count(), flushed);
    for (dump::EntryId entry = 0; entry < (*dump)->entry_count(); ++entry) {
      dump::Record record;
      ASSERT_TRUE((*dump)->Read(entry, &record).ok());
      ASSERT_EQ((*dump)->entry_name(entry), "Torch.add." + std::to_string(entry) + ".forward");
      ASSERT_EQ(record.values.size(), 5u);
      if (entry % 16 != 0) continue;
      const auto path = (*dump)->TensorPath(record.values[4].data_name);
      ASSERT_TRUE(path.ok());
      ASSERT_TRUE(formats::OpenTensorFile(*path).ok());
    }
    ASSERT_GE((*dump)->construct().size(), flushed);
    total += flushed;
    fs::remove_all(unit);
  }
  EXPECT_GT(total, 1000u);
}

TEST_F(DumpWriterCrashTest, ForkedChildWritesNothingAndDoesNotHang) {
#ifdef __SANITIZE_ADDRESS__
  // GCC 12's AddressSanitizer leaves its allocator locked in a child that is forked while another
  // thread allocates.
  GTEST_SKIP() << "means nothing under AddressSanitizer";
#endif
  auto writer = DumpWriter::Open(Options(0));
  ASSERT_TRUE(writer.ok());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    RecordBuilder builder;
    for (uint64_t i = 0; !stop; ++i) AddRecord(writer->get(), &builder, 1000 + i);
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      RecordBuilder builder;
      AddRecord(writer->get(), &builder, 0);
      (*writer)->Flush();
      (*writer)->ReportProblem("x", "y");
      (*writer)->CountSeen();
      const bool inert = !(*writer)->accepts_tensors() && (*writer)->Finish().recorded == 0;
      writer->reset();
      ::_exit(inert ? 7 : 8);
    }
    int status = 0;
    for (int wait = 0; ::waitpid(child, &status, WNOHANG) == 0; ++wait) {
      if (wait > 3000) ::kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(WIFEXITED(status)) << "the child hangs";
    EXPECT_EQ(WEXITSTATUS(status), 7);
  }
  stop = true;
  busy.join();
  const DumpCounts counts = (*writer)->Finish();
  base::Diagnostics diagnostics;
  auto dump = dump::RankDump::Open(root_ / "step0" / "rank0", {}, &diagnostics);
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ((*dump)->entry_count(), counts.recorded);
  EXPECT_EQ((*dump)->Find("Torch.add.0.forward"), dump::kNoEntry);
}

TEST_F(DumpWriterCrashTest, ExitWithoutFinishInTheDestructorsHands) {
  {
    auto writer = DumpWriter::Open(Options(0));
    ASSERT_TRUE(writer.ok());
    RecordBuilder builder;
    for (uint64_t i = 0; i < 100; ++i) AddRecord(writer->get(), &builder, i);
  }
  base::Diagnostics diagnostics;
  auto dump = dump::RankDump::Open(root_ / "step0" / "rank0", {}, &diagnostics);
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ((*dump)->entry_count(), 100u);
  EXPECT_TRUE(fs::exists(root_ / "step0" / "rank0" / "ledger.json"));
}

}  // namespace
}  // namespace msprobe
