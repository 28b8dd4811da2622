#include "base/ordered_chunks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

namespace msprobe::base {
namespace {

using Numbers = std::vector<size_t>;

void Fill(size_t begin, size_t end, Numbers* chunk) {
  chunk->resize(end - begin);
  std::iota(chunk->begin(), chunk->end(), begin);
}

TEST(OrderedChunks, ChunksArriveInOrderFromAnyNumberOfThreads) {
  for (const size_t threads : {0, 1, 2, 7}) {
    for (const size_t count : {0, 1, 9, 1000}) {
      Numbers all;
      const Status status =
          OrderedChunks<Numbers>(count, 10, {.threads = threads}, Fill, [&](const Numbers& chunk) {
            all.insert(all.end(), chunk.begin(), chunk.end());
            return Status::Ok();
          });
      ASSERT_TRUE(status.ok());
      Numbers expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << threads << " threads, " << count << " items";
    }
  }
}

TEST(OrderedChunks, TheFirstErrorStopsTheWork) {
  std::atomic<int> consumed = 0;
  const Status status =
      OrderedChunks<Numbers>(100'000, 10, {.threads = 4}, Fill, [&](const Numbers& chunk) {
        ++consumed;
        return chunk.front() >= 50 ? InternalError("full") : Status::Ok();
      });
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(consumed, 6);
}

TEST(OrderedChunks, WhatRunsOutOfMemoryStopsTheWork) {
  std::atomic<int> consumed = 0;
  const Status status = OrderedChunks<Numbers>(
      1000, 10, {.threads = 4},
      [](size_t begin, size_t end, Numbers* chunk) {
        if (begin == 50) throw std::bad_alloc();
        Fill(begin, end, chunk);
      },
      [&](const Numbers&) {
        ++consumed;
        return Status::Ok();
      });
  EXPECT_EQ(status.fact(), "out of memory");
  EXPECT_EQ(consumed, 5);
}

TEST(OrderedChunks, ACancelledTokenStopsTheWork) {
  base::CancelToken cancel;
  int consumed = 0;
  const Status status = OrderedChunks<Numbers>(100'000, 10, {.threads = 3, .cancel = &cancel}, Fill,
                                               [&](const Numbers&) {
                                                 if (++consumed == 5) cancel.Cancel();
                                                 return Status::Ok();
                                               });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_LT(consumed, 10);
}

}  // namespace
}  // namespace msprobe::base
