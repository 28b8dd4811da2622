#include "stats/content_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "stats/kernels.h"

namespace msprobe::stats {
namespace {

std::vector<std::byte> Bytes(size_t size) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(ContentHashTest, SameOnEveryTarget) {
  const auto bytes = Bytes(1500);
  for (size_t size = 0; size + 3 < bytes.size(); size += 17) {
    SelectKernelTarget(0);
    const ContentHash best = HashContents(bytes.data() + size % 3, size);
    for (const int64_t target : KernelTargets()) {
      SelectKernelTarget(target);
      ASSERT_EQ(HashContents(bytes.data() + size % 3, size), best)
          << KernelTargetName(target) << ' ' << size;
    }
  }
  SelectKernelTarget(0);
}

TEST(ContentHashTest, EveryBitCounts) {
  auto bytes = Bytes(1100);
  const ContentHash before = HashContents(bytes.data(), bytes.size());
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const ContentHash after = HashContents(bytes.data(), bytes.size());
    EXPECT_NE(after.low, before.low) << bit;
    EXPECT_NE(after.high, before.high) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST(ContentHashTest, LengthAndOrderCount) {
  std::vector<std::byte> zeros(1024);
  std::vector<ContentHash> seen;
  for (size_t size = 0; size <= zeros.size(); ++size) {
    const ContentHash hash = HashContents(zeros.data(), size);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), hash), 0) << size;
    seen.push_back(hash);
  }
  auto bytes = Bytes(1024);
  const ContentHash before = HashContents(bytes.data(), bytes.size());
  for (const size_t part : {16, 64, 256, 512}) {
    auto moved = bytes;
    std::swap_ranges(moved.begin(), moved.begin() + static_cast<ptrdiff_t>(part),
                     moved.begin() + static_cast<ptrdiff_t>(part));
    EXPECT_FALSE(HashContents(moved.data(), moved.size()) == before) << part;
  }
}

}  // namespace
}  // namespace msprobe::stats
