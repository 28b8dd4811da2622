#include "stats/ulp_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "stats/instruction_sets_fixture.h"
#include "stats/pair_metrics.h"

namespace msprobe::stats {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

size_t ClassOf(double distance) {
  size_t k = kUlpClasses.size() - 1;
  while (k > 0 && distance < kUlpClasses[k]) --k;
  return k;
}

/// Signed number of representable values from 0 to the one with that word.
template <class Word>
__int128_t Steps(Word word) {
  constexpr Word kMagnitude = static_cast<Word>(~Word{0} >> 1);
  const auto steps = static_cast<__int128_t>(word & kMagnitude);
  return word > kMagnitude ? -steps : steps;
}

template <class Word>
UlpCounts Expected(const std::vector<Word>& target, const std::vector<Word>& golden, int shift) {
  UlpCounts counts{};
  for (size_t i = 0; i < target.size(); ++i) {
    const __int128_t apart = Steps(target[i]) - Steps(golden[i]);
    const auto distance = static_cast<double>(apart < 0 ? -apart : apart);
    ++counts[ClassOf(std::floor(distance / std::exp2(shift) + 0.5))];
  }
  return counts;
}

/// Pairs of finite words: some equal, most near each other, some far apart or of other sign.
template <class Word>
void FillWords(size_t count, Word infinity, std::vector<Word>* target, std::vector<Word>* golden) {
  std::mt19937_64 random(count);
  while (target->size() < count) {
    const auto t = static_cast<Word>(random());
    const auto distance = static_cast<Word>(random() >> (63 - random() % 40));
    const auto g =
        target->size() % 7 == 0 ? static_cast<Word>(random()) : static_cast<Word>(t + distance);
    constexpr Word kMagnitude = static_cast<Word>(~Word{0} >> 1);
    if ((t & kMagnitude) >= infinity || (g & kMagnitude) >= infinity) continue;
    target->push_back(t);
    golden->push_back(g);
  }
}

class UlpKernels : public fixture::EveryInstructionSet {};

TEST_P(UlpKernels, CountsEveryClass) {
  for (const size_t count : {0, 1, 7, 33, 4096, 9001}) {
    for (const int shift : {0, 13, 16}) {
      std::vector<uint32_t> target, golden;
      FillWords<uint32_t>(count, 0x7f800000, &target, &golden);
      UlpCounts counts{}, special{};
      const auto* t = reinterpret_cast<const float*>(target.data());
      const auto* g = reinterpret_cast<const float*>(golden.data());
      CountUlps(t, g, count, shift, &counts);
      CountSpecialUlps(t, g, count, shift, &special);
      EXPECT_EQ(counts, Expected(target, golden, shift)) << count << " " << shift;
      EXPECT_EQ(special, counts);
    }
  }
}

TEST_P(UlpKernels, CountsDoubles) {
  for (const int shift : {0, 29}) {
    std::vector<uint64_t> target, golden;
    FillWords<uint64_t>(5000, uint64_t{0x7ff} << 52, &target, &golden);
    UlpCounts counts{};
    CountUlps(reinterpret_cast<const double*>(target.data()),
              reinterpret_cast<const double*>(golden.data()), target.size(), shift, &counts);
    EXPECT_EQ(counts, Expected(target, golden, shift));
  }
}

TEST_P(UlpKernels, CountsWords) {
  for (const uint16_t infinity : {uint16_t{0x7f80}, uint16_t{0x7c00}}) {
    std::vector<uint16_t> target, golden;
    FillWords<uint16_t>(9001, infinity, &target, &golden);
    UlpCounts counts{}, special{};
    CountUlps(target.data(), golden.data(), target.size(), &counts);
    CountSpecialUlps(target.data(), golden.data(), target.size(), infinity, &special);
    EXPECT_EQ(counts, Expected(target, golden, 0));
    EXPECT_EQ(special, counts);
  }
}

INSTANTIATE_TEST_SUITE_P(All, UlpKernels, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()));

UlpCounts Compare(DType dtype, const void* target, const void* golden, int64_t count,
                  DType unit = DType::kUnknown) {
  const int64_t shape[] = {count};
  const auto view = [&](const void* data) {
    return TensorView{static_cast<const std::byte*>(data), dtype, false, false, shape, {}};
  };
  return ComparePair(view(target), view(golden), 1, nullptr, unit).value().ulps;
}

TEST(Ulps, SpecialValuesAreEqualOrFarApart) {
  const float target[] = {kNaN, kInf, -kInf, kNaN, 1, 0.0F, 1};
  const float golden[] = {kNaN, kInf, kInf, 1, kInf, -0.0F, std::nextafter(1.0F, 2.0F)};
  const UlpCounts expected = {3, 1, 0, 0, 0, 0, 0, 3};
  EXPECT_EQ(Compare(DType::kFloat32, target, golden, 7), expected);
}

TEST(Ulps, SpecialWordsToo) {
  const uint16_t target[] = {0x7fc0, 0x7f80, 0x3f80, 0x3f80};  // NaN, Inf, 1, 1
  const uint16_t golden[] = {0x7fc1, 0x3f80, 0x7f80, 0x3f82};
  const UlpCounts expected = {1, 0, 1, 0, 0, 0, 0, 2};
  EXPECT_EQ(Compare(DType::kBFloat16, target, golden, 4), expected);
}

TEST(Ulps, EqualTensorsAreAllInTheFirstClass) {
  const std::vector<float> values(5000, 1.5F);
  EXPECT_EQ(Compare(DType::kFloat32, values.data(), values.data(), 5000)[0], 5000U);
}

TEST(Ulps, OfManyElementsASampleIsCounted) {
  const auto total = [](const UlpCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  };
  const std::vector<float> golden(262144, 1.0F);
  const std::vector<float> target(262144, std::nextafter(1.0F, 2.0F));
  const UlpCounts floats = Compare(DType::kFloat32, target.data(), golden.data(), 262144);
  EXPECT_EQ(total(floats), 262144U / 8);
  EXPECT_EQ(floats[1], total(floats));
  EXPECT_EQ(total(Compare(DType::kFloat32, target.data(), golden.data(), 65536)), 65536U);
  EXPECT_EQ(total(Compare(DType::kBFloat16, target.data(), golden.data(), 262144)), 262144U / 8);
}

TEST(Ulps, FilesOfWiderTypesCountInTheUnitsOfWhatTheyHold) {
  const float target[] = {1.0F, 1.0078125F, 2.0F};  // bfloat16 values
  const float golden[] = {1.0F, 1.0F, 2.0F + 2 * 0.015625F};
  const UlpCounts expected = {1, 1, 1, 0, 0, 0, 0, 0};
  EXPECT_EQ(Compare(DType::kFloat32, target, golden, 3, DType::kBFloat16), expected);
}

TEST(Ulps, IntegersHaveNone) {
  const int32_t values[] = {1, 2, 3};
  EXPECT_EQ(Compare(DType::kInt32, values, values, 3), UlpCounts{});
  const int64_t longs[] = {1, 2, 3};
  EXPECT_EQ(Compare(DType::kInt64, longs, longs, 3), UlpCounts{});
}

}  // namespace
}  // namespace msprobe::stats
