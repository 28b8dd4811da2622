#include "stats/float32_once.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/crc32.h"
#include "stats/reference.h"

namespace msprobe::stats {
namespace {

class Float32OnceTest : public testing::Test {
 protected:
  void SetUp() override {
    Partial partial;
    if (!AccumulateFloat32Once(nullptr, 0, {}, &partial)) GTEST_SKIP() << "no AVX-512 here";
  }

  static std::vector<float> Values(size_t count) {
    std::mt19937 random(static_cast<uint32_t>(count) + 1);
    std::normal_distribution<float> normal(0.25f, 3.0f);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
  }

  /// Against the plain loops, with every choice of what is wanted.
  static void Expect(const std::byte* values, size_t count) {
    const std::span<const std::byte> bytes(values, count * sizeof(float));
    Partial expected;
    AccumulateReference(DType::kFloat32, values, count, &expected);
    for (int choice = 0; choice < 4; ++choice) {
      uint32_t crc = 7;
      uint64_t fingerprint = 9;
      Partial got;
      const Float32Wanted wanted = {(choice & 1) != 0 ? &crc : nullptr,
                                    (choice & 2) != 0 ? &fingerprint : nullptr};
      ASSERT_TRUE(AccumulateFloat32Once(values, count, wanted, &got));
      EXPECT_EQ(crc, (choice & 1) != 0 ? base::Crc32(7, bytes) : 7u);
      EXPECT_EQ(fingerprint,
                (choice & 2) != 0 ? FingerprintReference(values, bytes.size(), 9) : 9u);
      EXPECT_EQ(got.nan_count, expected.nan_count);
      EXPECT_EQ(got.inf_count, expected.inf_count);
      if (expected.nan_count > 0) continue;
      EXPECT_EQ(got.max, expected.max);
      EXPECT_EQ(got.min, expected.min);
      if (expected.inf_count > 0) continue;
      const long double size = std::sqrt(expected.sum_squares * static_cast<long double>(count));
      EXPECT_LE(std::fabs(got.sum - expected.sum), 1e-14L * size);
      EXPECT_LE(std::fabs(got.sum_squares - expected.sum_squares), 1e-14L * expected.sum_squares);
    }
  }
};

TEST_F(Float32OnceTest, AgreesWithTheReferences) {
  for (size_t count = 0; count < 14'000; count += 1 + count / 9) {
    const auto values = Values(count + 1);
    SCOPED_TRACE(count);
    Expect(reinterpret_cast<const std::byte*>(values.data()), count);
    Expect(reinterpret_cast<const std::byte*>(values.data()) + 3, count);  // not aligned
  }
}

TEST_F(Float32OnceTest, WholeBlocks) {
  for (const size_t count : {64, 1023, 1024, 1025, 4096, 4097, 8192, 12'288}) {
    const auto values = Values(count);
    SCOPED_TRACE(count);
    Expect(reinterpret_cast<const std::byte*>(values.data()), count);
  }
}

TEST_F(Float32OnceTest, CountsSpecialValues) {
  for (const size_t at : {0, 100, 4095, 4096, 9999}) {
    auto values = Values(10'000);
    SCOPED_TRACE(at);
    values[at] = std::numeric_limits<float>::infinity();
    Expect(reinterpret_cast<const std::byte*>(values.data()), values.size());
    values[5000] = std::numeric_limits<float>::quiet_NaN();
    Expect(reinterpret_cast<const std::byte*>(values.data()), values.size());
  }
}

}  // namespace
}  // namespace msprobe::stats
