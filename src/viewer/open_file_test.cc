#include "viewer/open_file.h"

#include <gtest/gtest.h>

#include <future>

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

TEST(OpenFileTest, ProgressIsThatOfTheUnitThatIsAskedFor) {
  EXPECT_EQ(SeenOf({{50, 100}}, 3), (Shares{{0, 0}}));
}

}  // namespace
}  // namespace msprobe::viewer
