#include "stats/summary_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace msprobe::stats {
namespace {

class SummaryCacheTest : public testing::Test {
 protected:
  SummaryCacheTest() : values_(64 * 128) { std::iota(values_.begin(), values_.end(), 1.0f); }

  TensorView View(std::span<const int64_t> shape, std::span<const int64_t> strides = {}) {
    return {reinterpret_cast<const std::byte*>(values_.data()),
            DType::kFloat32,
            false,
            false,
            shape,
            strides};
  }
  /// As the collector does; true if nothing had to be computed.
  bool Known(const TensorView& view, uint64_t moment = 0,
             SummaryMode mode = SummaryMode::kStatistics) {
    SummaryCache::Key key;
    const TensorSummary* found = cache_.Find(view, mode, moment, &key);
    const TensorSummary expected = Summarize(view, mode);
    if (found == nullptr) {
      const TensorSummary computed = SummaryCache::Compute(view, mode, &key);
      EXPECT_EQ(computed.statistics.norm, expected.statistics.norm);
      EXPECT_EQ(computed.crc32, expected.crc32);
      cache_.Keep(key, computed);
      return false;
    }
    if (moment == 0) {
      EXPECT_EQ(found->statistics.norm, expected.statistics.norm);
      EXPECT_EQ(found->statistics.mean, expected.statistics.mean);
      EXPECT_EQ(found->crc32, expected.crc32);
    }
    return true;
  }

  std::vector<float> values_;
  SummaryCache cache_;
};

constexpr std::array<int64_t, 2> kShape = {64, 128};

TEST_F(SummaryCacheTest, KnowsTheSameBytes) {
  EXPECT_FALSE(Known(View(kShape)));
  EXPECT_TRUE(Known(View(kShape)));
}

TEST_F(SummaryCacheTest, ReadsAnewForXorUnlessNothingCanHaveChanged) {
  EXPECT_FALSE(Known(View(kShape), 0, SummaryMode::kXor));
  EXPECT_FALSE(Known(View(kShape), 0, SummaryMode::kXor));
  EXPECT_FALSE(Known(View(kShape), 5, SummaryMode::kXor));
  EXPECT_TRUE(Known(View(kShape), 5, SummaryMode::kXor));
}

TEST_F(SummaryCacheTest, SeesEveryChangedElement) {
  EXPECT_FALSE(Known(View(kShape)));
  for (const size_t at : {size_t{0}, size_t{77}, values_.size() - 1}) {
    values_[at] += 1;
    EXPECT_FALSE(Known(View(kShape))) << at;
    EXPECT_TRUE(Known(View(kShape))) << at;
  }
}

TEST_F(SummaryCacheTest, SeesChangesBehindTheHeadWithEveryMode) {
  for (const SummaryMode mode : {SummaryMode::kStatistics, SummaryMode::kCrc32}) {
    EXPECT_FALSE(Known(View(kShape), 0, mode));
    values_.back() += 1;
    EXPECT_FALSE(Known(View(kShape), 0, mode)) << "the head is the same";
    EXPECT_TRUE(Known(View(kShape), 0, mode));
    values_.front() += 1;
    values_.back() += 1;
    EXPECT_FALSE(Known(View(kShape), 0, mode));
    values_.back() += 1;
    EXPECT_FALSE(Known(View(kShape), 0, mode)) << "what was read once has its fingerprint";
  }
}

TEST_F(SummaryCacheTest, LooksOnlyAtTheElementsOfTheView) {
  constexpr std::array<int64_t, 2> kPart = {64, 96};
  constexpr std::array<int64_t, 2> kStrides = {128, 1};
  EXPECT_FALSE(Known(View(kPart, kStrides)));
  values_[100] = -1;  // behind the first row of the part
  EXPECT_TRUE(Known(View(kPart, kStrides)));
  values_[128] = -1;
  EXPECT_FALSE(Known(View(kPart, kStrides)));
}

TEST_F(SummaryCacheTest, TransposedIsTheSameForStatisticsOnly) {
  constexpr std::array<int64_t, 2> kTurned = {128, 64};
  constexpr std::array<int64_t, 2> kStrides = {1, 128};
  EXPECT_FALSE(Known(View(kShape)));
  EXPECT_TRUE(Known(View(kTurned, kStrides)));
  EXPECT_FALSE(Known(View(kShape), 0, SummaryMode::kCrc32));
  EXPECT_FALSE(Known(View(kTurned, kStrides), 0, SummaryMode::kCrc32));
}

TEST_F(SummaryCacheTest, TellsShapesTypesAndModesApart) {
  constexpr std::array<int64_t, 1> kHalf = {4096};
  EXPECT_FALSE(Known(View(kShape)));
  EXPECT_FALSE(Known(View(kHalf)));
  TensorView integers = View(kShape);
  integers.dtype = DType::kInt32;
  EXPECT_FALSE(Known(integers));
  EXPECT_FALSE(Known(View(kShape), 0, SummaryMode::kCrc32));
  TensorView negative = View(kShape);
  negative.negative = true;
  EXPECT_FALSE(Known(negative));
  EXPECT_FALSE(Known(negative)) << "not kept";
}

TEST_F(SummaryCacheTest, WithinAMomentNothingIsReadAgain) {
  EXPECT_FALSE(Known(View(kShape), 1));
  values_[5] = -1;  // which nothing does within a moment: shows that it is not looked at
  EXPECT_TRUE(Known(View(kShape), 1));
  EXPECT_FALSE(Known(View(kShape), 2));
  EXPECT_TRUE(Known(View(kShape), 2));
}

TEST_F(SummaryCacheTest, EmptyTensors) {
  constexpr std::array<int64_t, 1> kNone = {0};
  EXPECT_FALSE(Known(View(kNone)));
  EXPECT_FALSE(Known(TensorView()));
}

}  // namespace
}  // namespace msprobe::stats
