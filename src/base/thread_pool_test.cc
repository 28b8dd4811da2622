#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_arena.h"

namespace msprobe::base {
namespace {

TEST(ParallelForTest, EveryIndexExactlyOnce) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
    for (const size_t threads : {size_t{0}, size_t{1}, size_t{4}}) {
      std::vector<std::atomic<int>> seen(count);
      ParallelFor(count, 3, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ParallelForTest, AnExceptionReachesTheCaller) {
  EXPECT_THROW(ParallelFor(1000, 1, 4,
                           [](size_t begin, size_t) {
                             if (begin == 500) throw std::bad_alloc();
                           }),
               std::bad_alloc);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ParallelForTest, FewerThreadsThanWantedDoTheSameWork) {
  const auto work = [] {
    const rlimit no_room_for_stacks{1, 1};
    ::setrlimit(RLIMIT_AS, &no_room_for_stacks);
    std::atomic<size_t> done{0};
    ParallelFor(100, 1, 64, [&](size_t begin, size_t end) { done += end - begin; });
    ::_exit(done == 100 ? 0 : 1);
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "");
}
#endif

TEST(DiagnosticsTest, CountsFromManyThreadsAndKeepsABoundedList) {
  Diagnostics diagnostics;
  ParallelFor(30'000, 100, 4, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) diagnostics.Add(DiagnosticKind::kNote, CorruptError("x"));
  });
  EXPECT_EQ(diagnostics.count(DiagnosticKind::kNote), 30'000U);
  EXPECT_EQ(diagnostics.entries().size(), Diagnostics::kMaxPerKind);
}

TEST(StringArenaTest, ViewsStayValid) {
  StringArena arena;
  std::vector<std::string_view> views;
  for (int i = 0; i < 20'000; ++i) views.push_back(arena.Copy(std::to_string(i)));
  const std::string large(1 << 20, 'q');
  const std::string_view copy = arena.Copy(large);
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(views[static_cast<size_t>(i)], std::to_string(i));
  EXPECT_EQ(copy, large);
}

}  // namespace
}  // namespace msprobe::base
