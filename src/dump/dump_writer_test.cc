#include "msprobe/dump_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/scratch_directory_fixture.h"
#include "dump/dump_writer_fixture.h"
#include "dump/rank_dump.h"
#include "formats/tensor_file.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;
using dump::fixture::MustOpen;
using testing::HasSubstr;

std::string ReadFile(const fs::path& path) { return base::FileText(path); }

class DumpWriterTest : public dump::fixture::WritesDumps {
 protected:
  /// A record with one float32 tensor of `count` times `value`, saved to a file if `save`.
  static void Render(RecordBuilder* builder, const std::string& name, bool save = false,
                     int64_t count = 4, float value = 1) {
    const dump::fixture::Floats floats(count, value);
    const TensorView view = floats.view();
    const TensorSummary summary = Summarize(view, SummaryMode::kStatistics);
    TensorDescription tensor;
    tensor.dtype = "torch.float32";
    tensor.shape = view.shape;
    tensor.summary = &summary;
    tensor.requires_grad = false;
    tensor.contents = save ? &view : nullptr;
    builder->Begin(name);
    builder->BeginObject();
    builder->BeginList("input_args");
    builder->Tensor({}, tensor);
    builder->End();
    builder->BeginObject("input_kwargs");
    builder->End();
    builder->BeginList("output");
    builder->Tensor({}, tensor);
    builder->End();
  }

  static std::unique_ptr<dump::RankDump> MustRead(const fs::path& directory) {
    base::Diagnostics diagnostics;
    auto dump = dump::RankDump::Open(directory, {.need_construct = false}, &diagnostics);
    EXPECT_TRUE(dump.ok()) << dump.status().ToString();
    EXPECT_TRUE(diagnostics.entries().empty());
    return dump.ok() ? std::move(*dump) : nullptr;
  }

  static std::vector<std::string> Names(const dump::RankDump& dump) {
    std::vector<std::string> names;
    for (dump::EntryId entry = 0; entry < dump.entry_count(); ++entry) {
      dump::Record record;
      EXPECT_TRUE(dump.Read(entry, &record).ok());
      names.emplace_back(dump.entry_name(entry));
    }
    return names;
  }
};

TEST_F(DumpWriterTest, WritesWhatTheReaderReads) {
  auto writer = MustOpen(Options());
  const auto frames = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"File a.py, line 1, in f, \n x()", "File b.py, line 2, in g"});
  RecordBuilder builder;
  writer->AddConstruct("Module.net.Net.forward.0", {});
  writer->AddConstruct("Torch.add.0.forward", "Module.net.Net.forward.0");
  writer->AddStack("Torch.add.0.forward", frames);
  Render(&builder, "Torch.add.0.forward");
  EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  EXPECT_EQ(builder.text(), "");
  writer->AddStack("Module.net.Net.forward.0", frames);
  Render(&builder, "Module.net.Net.forward.0");
  EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  const DumpCounts counts = writer->Finish();
  EXPECT_EQ(counts.seen, 2u);
  EXPECT_EQ(counts.recorded, 2u);

  const auto dump = MustRead(root_ / "step0" / "rank0");
  EXPECT_THAT(Names(*dump),
              testing::ElementsAre("Torch.add.0.forward", "Module.net.Net.forward.0"));
  ASSERT_EQ(dump->construct().size(), 2u);
  EXPECT_EQ(dump->construct()[0].child, "Module.net.Net.forward.0");
  EXPECT_EQ(dump->construct()[1].parent, "Module.net.Net.forward.0");
  const auto stack = dump->FindStack("Module.net.Net.forward.0");
  ASSERT_NE(stack, dump::kNoStack);
  EXPECT_EQ(dump->StackFrames(stack), *frames);
  const std::string stacks = ReadFile(root_ / "step0" / "rank0" / "stack.json");
  EXPECT_EQ(stacks.find("a.py"), stacks.rfind("a.py"));
  EXPECT_FALSE(fs::exists(root_ / "step0" / "rank0" / "dump_error_info.log"));
}

TEST_F(DumpWriterTest, AnEmptyStepIsCompleteToo) {
  MustOpen(Options())->Finish();
  const fs::path unit = root_ / "step0" / "rank0";
  EXPECT_EQ(ReadFile(unit / "dump.json"),
            "{\n \"task\": \"statistics\",\n \"level\": \"mix\",\n \"framework\": \"pytorch\",\n"
            " \"dump_data_dir\": null,\n \"data\": {}\n}");
  EXPECT_EQ(ReadFile(unit / "construct.json"), "{}");
  EXPECT_EQ(ReadFile(unit / "stack.json"), "{}");
  EXPECT_THAT(ReadFile(unit / "ledger.json"), HasSubstr("\"unaccounted\": 0"));
}

TEST_F(DumpWriterTest, FilesAreCompleteAfterEveryFlush) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  for (size_t i = 0; i < 50; ++i) {
    const std::string name = "Torch.add." + std::to_string(i) + ".forward";
    writer->AddConstruct(name, {});
    Render(&builder, name);
    writer->Add(&builder);
    writer->Flush();
    const auto dump = MustRead(root_ / "step0" / "rank0");
    EXPECT_EQ(Names(*dump).size(), i + 1);
    EXPECT_EQ(dump->construct().size(), i + 1);
  }
}

TEST_F(DumpWriterTest, ReachesTheDiskByItselfInTime) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  Render(&builder, "Torch.add.0.forward");
  writer->Add(&builder);
  for (int i = 0; i < 500 && writer->counts().recorded == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(Names(*MustRead(root_ / "step0" / "rank0")).size(), 1u);
}

TEST_F(DumpWriterTest, SavesTensorsInBothFormats) {
  for (const TensorFormat format : {TensorFormat::kNpy, TensorFormat::kPt}) {
    DumpWriterOptions options = Options();
    options.task = "tensor";
    options.step = format == TensorFormat::kNpy ? 0 : 1;
    options.tensor_format = format;
    auto writer = MustOpen(options);
    RecordBuilder builder;
    Render(&builder, "Torch.add.0.forward", true, 100'000);
    EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
    EXPECT_EQ(writer->Finish().tensors_written, 2u);
    const auto dump = MustRead(root_ / ("step" + std::to_string(options.step)) / "rank0");
    dump::Record record;
    ASSERT_TRUE(dump->Read(0, &record).ok());
    EXPECT_EQ(record.values[0].data_name, std::string("Torch.add.0.forward.input.0.") +
                                              (format == TensorFormat::kNpy ? "npy" : "pt"));
    for (const dump::Value& value : record.values) {
      const auto path = dump->TensorPath(value.data_name);
      ASSERT_TRUE(path.ok());
      const auto tensor = formats::OpenTensorFile(*path);
      ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
      EXPECT_EQ(Summarize(tensor->view(), SummaryMode::kStatistics).statistics.mean, 1.0);
    }
  }
}

TEST_F(DumpWriterTest, LaterStepsAreCreatedInTheBackground) {
  DumpWriterOptions options = Options();
  options.create_in_background = true;
  {
    auto writer = MustOpen(options);
    RecordBuilder builder;
    Render(&builder, "Torch.add.0.forward");
    EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
    EXPECT_TRUE(writer->HasFiles());
    EXPECT_EQ(writer->Finish().recorded, 1u);
    EXPECT_THAT(ReadFile(fs::path(writer->directory()) / "dump.json"),
                HasSubstr("Torch.add.0.forward"));
  }
  const std::string before = ReadFile(root_ / "step0/rank0/dump.json");
  auto second = MustOpen(options);  // the files of an earlier run are left alone here too
  RecordBuilder builder;
  Render(&builder, "Torch.mul.0.forward");
  static_cast<void>(second->Add(&builder));
  EXPECT_FALSE(second->HasFiles());
  EXPECT_EQ(second->Finish().recorded, 0u);
  EXPECT_EQ(ReadFile(root_ / "step0/rank0/dump.json"), before);
  EXPECT_EQ(second->Add(&builder), AddResult::kClosed);
}

TEST_F(DumpWriterTest, ARankIsKnownBeforeOrAfterTheDirectory) {
  DumpWriterOptions options = Options();
  options.rank.reset();
  options.create_in_background = true;
  auto writer = MustOpen(options);
  EXPECT_TRUE(writer->BecomeRank(3).ok());
  RecordBuilder builder;
  Render(&builder, "Torch.add.0.forward");
  EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  EXPECT_EQ(writer->Finish().recorded, 1u);
  EXPECT_TRUE(fs::exists(root_ / "step0/rank3/ledger.json"));
}

TEST_F(DumpWriterTest, ProcessBecomesARankWhileRecording) {
  DumpWriterOptions options = Options();
  options.rank.reset();
  options.task = "tensor";
  auto writer = MustOpen(options);
  EXPECT_THAT(writer->directory(), HasSubstr("proc" + std::to_string(::getpid())));
  RecordBuilder builder;
  Render(&builder, "Torch.add.0.forward", true);
  writer->Add(&builder);
  writer->Flush();
  EXPECT_TRUE(writer->BecomeRank(3).ok());
  EXPECT_FALSE(writer->BecomeRank(4).ok());
  Render(&builder, "Torch.add.1.forward", true);
  writer->Add(&builder);
  writer->Finish();
  const auto dump = MustRead(root_ / "step0" / "rank3");
  EXPECT_EQ(Names(*dump).size(), 2u);
  EXPECT_EQ(dump->dump_data_dir(), (root_ / "step0" / "rank3" / "dump_tensor_data").string());
  EXPECT_TRUE(dump->TensorPath("Torch.add.1.forward.output.0.npy").ok());
  EXPECT_FALSE(fs::exists(root_ / "step0" / ("proc" + std::to_string(::getpid()))));
}

TEST_F(DumpWriterTest, BudgetStopsTensorsButNotStatistics) {
  DumpWriterOptions options = Options();
  options.task = "tensor";
  options.budget = std::make_shared<DiskBudget>(40);
  auto writer = MustOpen(options);
  RecordBuilder builder;
  for (int i = 0; i < 3; ++i) {
    Render(&builder, "Torch.add." + std::to_string(i) + ".forward", true);  // 2 × 16 bytes
    writer->Add(&builder);
  }
  EXPECT_FALSE(writer->accepts_tensors());
  const DumpCounts counts = writer->Finish();
  EXPECT_EQ(counts.tensors_written, 2u);
  EXPECT_EQ(counts.tensors_over_budget, 4u);
  EXPECT_EQ(counts.recorded, 3u);
  const fs::path unit = root_ / "step0" / "rank0";
  EXPECT_EQ(Names(*MustRead(unit)).size(), 3u);
  const std::string text = ReadFile(unit / "dump.json");
  EXPECT_THAT(text, HasSubstr("Torch.add.0.forward.output.0.npy"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Torch.add.1.forward.input.0.npy")));
  EXPECT_THAT(ReadFile(unit / "ledger.json"), HasSubstr("max_bytes"));
}

TEST_F(DumpWriterTest, CountsAddUp) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  writer->CountSeen(10);
  writer->CountSkipped("scope", 3);
  writer->CountSkipped("list");
  writer->CountNotRecordable("Torch.x.0.forward", "no storage\nat all");
  for (int i = 0; i < 4; ++i) {
    Render(&builder, "Torch.add." + std::to_string(i) + ".forward");
    writer->Add(&builder);
  }
  const DumpCounts counts = writer->Finish();
  EXPECT_EQ(counts.recorded + counts.skipped + counts.not_recordable + counts.lost, 9u);
  const fs::path unit = root_ / "step0" / "rank0";
  const std::string ledger = ReadFile(unit / "ledger.json");
  EXPECT_THAT(ledger, HasSubstr("\"scope\": 3"));
  EXPECT_THAT(ledger, HasSubstr("\"unaccounted\": 1"));
  EXPECT_THAT(ReadFile(unit / "dump_error_info.log"),
              HasSubstr("\tTorch.x.0.forward\tno storage at all\n"));
}

TEST_F(DumpWriterTest, FullQueueKeepsTheRecordOfWhoWillNotWait) {
  DumpWriterOptions options = Options();
  options.queue_bytes = 20'000;
  options.flush_milliseconds = 60'000;
  auto writer = MustOpen(options);
  RecordBuilder builder;
  AddResult result = AddResult::kAdded;
  size_t added = 0;
  while (result == AddResult::kAdded && added < 10'000) {
    Render(&builder, "Torch.add." + std::to_string(added) + ".forward", true, 1000,
           static_cast<float>(added));
    result = writer->Add(&builder, Wait::kNo);
    added += result == AddResult::kAdded;
  }
  if (result == AddResult::kFull) {
    EXPECT_NE(builder.text(), "");
    EXPECT_EQ(writer->Add(&builder, Wait::kYes), AddResult::kAdded);
    ++added;
  }
  EXPECT_EQ(writer->Finish().recorded, added);
  EXPECT_EQ(Names(*MustRead(root_ / "step0" / "rank0")).size(), added);
}

TEST_F(DumpWriterTest, NothingAfterClose) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  Render(&builder, "Torch.add.0.forward");
  writer->Close();
  EXPECT_EQ(writer->Add(&builder), AddResult::kClosed);
  EXPECT_EQ(writer->Finish().recorded, 0u);
  EXPECT_EQ(writer->Finish().recorded, 0u);
}

TEST_F(DumpWriterTest, ManyThreadsKeepTheirOrder) {
  DumpWriterOptions options = Options();
  options.queue_bytes = 100'000;
  auto writer = MustOpen(options);
  constexpr int kThreads = 32;
  constexpr int kRecords = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&writer, t] {
      RecordBuilder builder;
      for (int i = 0; i < kRecords; ++i) {
        const std::string name =
            "Torch.t" + std::to_string(t) + "." + std::to_string(i) + ".forward";
        writer->CountSeen();
        writer->AddConstruct(name, {});
        Render(&builder, name, i % 20 == 0);
        EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(writer->Finish().recorded, static_cast<uint64_t>(kThreads * kRecords));
  const auto names = Names(*MustRead(root_ / "step0" / "rank0"));
  ASSERT_EQ(names.size(), static_cast<size_t>(kThreads * kRecords));
  std::vector<int> next(kThreads, 0);
  for (const std::string& name : names) {
    int thread = 0;
    int index = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "Torch.t%d.%d", &thread, &index), 2);
    EXPECT_EQ(index, next[static_cast<size_t>(thread)]++);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
size_t AnonymousKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8));
  }
  return 0;
}

TEST_F(DumpWriterTest, MemoryStaysFlat) {
  DumpWriterOptions options = Options();
  options.queue_bytes = 2 << 20;
  auto writer = MustOpen(options);
  const auto frames = std::make_shared<const std::vector<std::string>>(3, "File a.py, line 1");
  RecordBuilder builder;
  size_t early = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = "Torch.add." + std::to_string(i) + ".forward";
    writer->AddConstruct(name, {});
    writer->AddStack(name, frames);
    Render(&builder, name);
    writer->Add(&builder);
    if (i == 20'000) early = AnonymousKilobytes();
  }
  EXPECT_LT(AnonymousKilobytes(), early + 8 * 1024);
  EXPECT_EQ(writer->Finish().recorded, 100'000u);
}
#endif

TEST_F(DumpWriterTest, DebugLevelHasOneFile) {
  DumpWriterOptions options = Options();
  options.level = "debug";
  auto writer = MustOpen(options);
  RecordBuilder builder;
  builder.Begin("grad.0.debug");
  builder.Null({});
  writer->Add(&builder);
  writer->Finish();
  const fs::path unit = root_ / "step0" / "rank0";
  EXPECT_THAT(ReadFile(unit / "debug.json"), HasSubstr("\"grad.0.debug\": null"));
  EXPECT_FALSE(fs::exists(unit / "dump.json"));
  EXPECT_FALSE(fs::exists(unit / "stack.json"));
}

class FullDiskTest : public DumpWriterTest {
 protected:
  void SetUp() override {
    DumpWriterTest::SetUp();
    mounted_ = ::mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!mounted_) GTEST_SKIP() << "no permission to mount a small disk";
  }
  void TearDown() override {
    if (mounted_) ::umount2(root_.c_str(), MNT_DETACH);
    DumpWriterTest::TearDown();
  }
  bool mounted_ = false;
};

TEST_F(FullDiskTest, TensorsDegradeToStatistics) {
  DumpWriterOptions options = Options();
  options.task = "tensor";
  auto writer = MustOpen(options);
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    Render(&builder, "Torch.add." + std::to_string(i) + ".forward", true, 20'000,
           static_cast<float>(i));
    EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  }
  const DumpCounts counts = writer->Finish();
  EXPECT_GT(counts.tensors_written, 0u);
  EXPECT_EQ(counts.tensors_written + counts.tensors_lost, 60u);
  EXPECT_EQ(counts.recorded + counts.lost, 30u);
  const fs::path unit = root_ / "step0" / "rank0";
  EXPECT_THAT(ReadFile(unit / "dump_error_info.log"), HasSubstr("No space left"));
  EXPECT_THAT(ReadFile(unit / "ledger.json"), HasSubstr("\"unaccounted\": 0"));
  const auto dump = MustRead(unit);
  for (dump::EntryId entry = 0; entry < dump->entry_count(); ++entry) {
    dump::Record record;
    ASSERT_TRUE(dump->Read(entry, &record).ok());
    for (const dump::Value& value : record.values) {
      EXPECT_TRUE(value.mean.has_number());
      if (value.data_name.empty()) continue;
      const auto path = dump->TensorPath(value.data_name);
      ASSERT_TRUE(path.ok());
      EXPECT_TRUE(formats::OpenTensorFile(*path).ok());
    }
  }
}

TEST_F(FullDiskTest, WhatStandsInTheRecordsStays) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  for (int i = 0; i < 5000; ++i) {
    Render(&builder, "Torch.add." + std::to_string(i) + ".forward");
    EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
    if (i % 100 == 99) writer->Flush();
  }
  const DumpCounts counts = writer->Finish();
  EXPECT_GT(counts.recorded, 0u);
  EXPECT_GT(counts.lost, 0u);
  EXPECT_EQ(counts.recorded + counts.lost, 5000u);
  EXPECT_EQ(Names(*MustRead(root_ / "step0" / "rank0")).size(), counts.recorded);
}

}  // namespace
}  // namespace msprobe
