#include "viewer/open_file.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "viewer/api_fixture.h"

namespace msprobe::viewer {
namespace {

using Shares = std::vector<std::pair<uint64_t, uint64_t>>;

/// What a page sees while a file that is opened tells these progresses.
Shares SeenOf(const Shares& told, size_t unit) {
  Shares seen;
  std::promise<const OpenFile*> made;
  std::promise<void> ended;
  const auto opener =
      [&, file = made.get_future().share()](
          const visfile::ReadOptions& options) -> Result<std::unique_ptr<visfile::VisSource>> {
    for (const auto& [done, total] : told) {
      options.progress(done, total);
      const OpenFile::Progress progress = file.get()->ProgressOf(unit);
      seen.emplace_back(progress.done, progress.total);
    }
    ended.set_value();
    return CancelledError();
  };
  const OpenFile file(opener, [](const auto&, size_t, LoadedUnit*) {}, {});
  made.set_value(&file);
  ended.get_future().wait();
  return seen;
}

TEST(OpenFileTest, ProgressNeverGoesBack) {
  // Bytes of an index that turns out to be damaged, then rows.
  EXPECT_EQ(
      SeenOf({{0, 0}, {10, 100}, {60, 100}, {40, 100}, {5, 1000}, {700, 1000}, {1200, 1000}}, 0),
      (Shares{{0, 0}, {10, 100}, {60, 100}, {60, 100}, {60, 100}, {700, 1000}, {1000, 1000}}));
}

TEST(OpenFileTest, AUnitThatWasSummedUpOrDroppedBeginsAnew) {
  const fixture::ScratchDirectory directory;
  const auto path = directory.path() / "a.vis.db";
  fixture::WriteDb(fixture::SmallComparison(), path, 2);
  // No room for more than what is asked for.
  OpenFile::Options options;
  options.keep_bytes = 0;
  OpenFile file([&](const visfile::ReadOptions& read) { return visfile::OpenVisDb(path, read); },
                [](const auto&, size_t, LoadedUnit*) {}, options);
  const auto patience = std::chrono::seconds(20);
  ASSERT_TRUE(file.Unit(0, patience).ok());
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto wait = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::chrono::steady_clock::now() < deadline;
  };
  while (file.SummaryOf(1).json.empty() && wait()) {
  }
  EXPECT_EQ(file.ProgressOf(1).total, 0U);
  ASSERT_TRUE(file.Unit(1, patience).ok());
  EXPECT_GT(file.ProgressOf(1).total, 0U);
  // It is in use for a moment: made ready for searches.
  for (file.Drop(1); file.ProgressOf(1).total > 0 && wait();) file.Drop(1);
  EXPECT_EQ(file.ProgressOf(1).total, 0U);
}

TEST(OpenFileTest, OutOfMemoryIsAnErrorOfTheFile) {
  OpenFile file(
      [](const auto&) -> Result<std::unique_ptr<visfile::VisSource>> { throw std::bad_alloc(); },
      [](const auto&, size_t, LoadedUnit*) {}, {});
  EXPECT_EQ(file.Unit(0, std::chrono::seconds(20)).status().code(), StatusCode::kLimitExceeded);
}

/// A file of two units, of which the second finds no memory the first `failures` times.
class TightFile {
 public:
  explicit TightFile(int failures) : failures_(failures) {
    fixture::WriteDb(fixture::SmallComparison(), path_, 2);
    file_.emplace(
        [this](const visfile::ReadOptions& read) { return visfile::OpenVisDb(path_, read); },
        [this](const auto&, size_t unit, LoadedUnit*) {
          if (unit == 1 && tries_.fetch_add(1) < failures_) throw std::bad_alloc();
        },
        OpenFile::Options{});
  }
  Status Ask(size_t unit) { return file_->Unit(unit, std::chrono::seconds(20)).status(); }
  int tries() const { return tries_.load(); }

 private:
  const fixture::ScratchDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "a.vis.db";
  const int failures_;
  std::atomic<int> tries_{0};
  std::optional<OpenFile> file_;
};

TEST(OpenFileTest, AUnitThatDidNotFitIsTriedAgain) {
  TightFile file(1);
  ASSERT_TRUE(file.Ask(0).ok()) << "the other one is not lost with it";
  EXPECT_EQ(file.Ask(1).code(), StatusCode::kLimitExceeded);
  EXPECT_TRUE(file.Ask(1).ok());
}

TEST(OpenFileTest, WhatNeverFitsIsNotTriedForEver) {
  TightFile file(1'000'000);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(file.Ask(1).ok());
  EXPECT_LT(file.tries(), 10);
}

TEST(OpenFileTest, ProgressIsThatOfTheUnitThatIsAskedFor) {
  EXPECT_EQ(SeenOf({{50, 100}}, 3), (Shares{{0, 0}}));
}

}  // namespace
}  // namespace msprobe::viewer
