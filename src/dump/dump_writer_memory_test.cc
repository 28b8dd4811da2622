// What happens where the thread that writes gets no memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

#include "base/scratch_directory_fixture.h"
#include "dump/dump_json_writer.h"
#include "dump/dump_writer_fixture.h"
#include "dump/rank_dump.h"

namespace {

constexpr int64_t kNever = INT64_MAX;
/// How many allocations other threads than this may make until they fail.
std::atomic<int64_t> allocations_left{kNever};
std::atomic<bool> fails_for_good{false};
thread_local bool is_the_program = false;

bool MayAllocate() {
  if (is_the_program || allocations_left.load(std::memory_order_relaxed) == kNever) return true;
  const int64_t left = allocations_left.fetch_sub(1);
  return left > 0 || (left < 0 && !fails_for_good);
}

void* AllocateOrNull(size_t size) {
  return MayAllocate() ? std::malloc(size > 0 ? size : 1) : nullptr;
}

void* Allocate(size_t size) {
  void* memory = AllocateOrNull(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
// Sanitizers have their own of these, which do not call those above.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return AllocateOrNull(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return AllocateOrNull(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace msprobe {
namespace {

namespace fs = std::filesystem;

constexpr int kRecords = 12;

class DumpWriterMemoryTest : public testing::TestWithParam<bool> {
 protected:
  DumpWriterMemoryTest() {
    is_the_program = true;
    fails_for_good = GetParam();
  }
  ~DumpWriterMemoryTest() override { allocations_left = kNever; }

  /// Writes a dump whose thread gets no memory at its `number`th allocation. False: it did not make
  /// as many.
  static bool Write(const fs::path& root, int64_t number, DumpCounts* counts) {
    DumpWriterOptions options;
    options.dump_path = root.string();
    options.rank = 0;
    options.level = "mix";
    options.create_in_background = true;
    allocations_left = number;
    {
      auto writer = dump::fixture::MustOpen(std::move(options));
      RecordBuilder builder;
      const dump::fixture::Floats floats(4, 1);
      const TensorView view = floats.view();
      const auto frames = std::make_shared<const std::vector<std::string>>(1, "File a.py, line 1");
      for (int i = 0; i < kRecords; ++i) {
        const std::string name = "Functional.relu." + std::to_string(i) + ".forward";
        writer->AddConstruct(name, i > 0 ? "Module.a.A.forward.0" : "");
        writer->AddStack(name, frames);
        TensorDescription tensor;
        tensor.dtype = "torch.float32";
        tensor.shape = view.shape;
        tensor.contents = i % 4 == 0 ? &view : nullptr;
        builder.Begin(name);
        builder.BeginObject();
        builder.BeginList("output");
        builder.Tensor({}, tensor);
        writer->Add(&builder);
        if (i == kRecords / 2) writer->Flush();
      }
      *counts = writer->Finish();
    }
    return allocations_left.exchange(kNever) < 0;
  }
};

TEST_P(DumpWriterMemoryTest, RecordsAreWrittenOrCountedAndTheProgramGoesOn) {
  const base::ScratchDirectory scratch("dump_writer_memory");
  int64_t number = 0;
  uint64_t cut_short = 0;
  for (DumpCounts counts;; ++number) {
    const fs::path root = scratch.path() / std::to_string(number);
    testing::internal::CaptureStderr();
    const bool failed = Write(root, number, &counts);
    const std::string said = testing::internal::GetCapturedStderr();
    SCOPED_TRACE(std::to_string(number) + " allocations, then none; " + said);
    EXPECT_EQ(counts.recorded + counts.lost, uint64_t{kRecords});
    const fs::path unit = root / "step0" / "rank0";
    if (counts.recorded > 0) {
      base::Diagnostics diagnostics;
      const auto dump = dump::RankDump::Open(unit, {.need_construct = false}, &diagnostics);
      ASSERT_TRUE(dump.ok()) << dump.status().ToString();
      EXPECT_TRUE(diagnostics.entries().empty());
      EXPECT_EQ((*dump)->entry_count(), counts.recorded);
    } else if (fs::exists(unit / "dump.json")) {
      EXPECT_TRUE(base::FileText(unit / "dump.json").ends_with("{}\n}"))
          << base::FileText(unit / "dump.json");
    }
    if (said.find("the program goes on") != std::string::npos) ++cut_short;
    fs::remove_all(root);
    if (!failed) break;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(number, 100);  // or the thread was never without memory
  EXPECT_GT(cut_short, 10u);
}

INSTANTIATE_TEST_SUITE_P(OnceOrForGood, DumpWriterMemoryTest, testing::Bool());

TEST(GrowingJsonMemoryTest, AWriteErrorWithoutMemoryLeavesTheFileAsItWas) {
  const base::ScratchDirectory scratch;
  const fs::path path = scratch / "a name that is not short.json";
  dump::GrowingJson file;
  ASSERT_TRUE(file.Create(path, "{", "\n}", true).ok());
  std::string members = ",\n \"" + std::string(200'000, 'x') + "\": null";
  const std::string before = members;
  members.reserve(members.size() + 16);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit short_limit{100'000, limit.rlim_max};
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &short_limit), 0);
  is_the_program = false;
  fails_for_good = true;
  allocations_left = 0;
  EXPECT_THROW(static_cast<void>(file.Append(&members)), std::bad_alloc);
  allocations_left = kNever;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, old_action);
  EXPECT_EQ(members, before);
  EXPECT_EQ(base::FileText(path), "{}");
  EXPECT_TRUE(file.Append(&members).ok());
  EXPECT_EQ(base::FileText(path), "{" + before.substr(1) + "\n}");
}

}  // namespace
}  // namespace msprobe
