#include "graph/call_clocks.h"

#include <gtest/gtest.h>

namespace msprobe::graph {
namespace {

/// `batches`, one behind the other, of `size` calls each, on two ranks.
std::vector<std::vector<CallEntry>> Batches(size_t batches, size_t size) {
  std::vector<CallEntry> entries;
  for (size_t i = 0; i < batches * size; ++i) {
    entries.push_back({static_cast<uint32_t>(i / size), i});
  }
  return {entries, entries};
}

TEST(CallClocks, ABatchWaitsForTheOneBefore) {
  constexpr size_t kBatches = 3;
  for (const size_t size : {1u, 2u, 16u, 17u, 20'000u}) {  // pairs of the last: 800 million
    const CallClocks clocks = ClockCalls(Batches(kBatches, size), kBatches * size);
    EXPECT_FALSE(clocks.contradictory);
    ASSERT_EQ(clocks.clocks.size(), kBatches * size);
    for (size_t i = 0; i < clocks.clocks.size(); ++i) ASSERT_EQ(clocks.clocks[i], i / size);
  }
}

TEST(CallClocks, SaysWhenRanksDisagree) {
  for (const uint32_t size : {1u, 100u}) {
    std::vector<std::vector<CallEntry>> entries = Batches(2, size);
    for (CallEntry& entry : entries[1]) entry.call = (entry.call + size) % (2 * size);
    EXPECT_TRUE(ClockCalls(entries, 2 * size).contradictory);
  }
}

}  // namespace
}  // namespace msprobe::graph
