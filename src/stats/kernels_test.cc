#include "stats/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "stats/reference.h"
#include "tensor/dtype.h"

namespace msprobe::stats {
namespace {

constexpr DType kWithKernel[] = {
    DType::kBool,           DType::kUInt8,      DType::kUInt16,         DType::kInt8,
    DType::kInt16,          DType::kInt32,      DType::kInt64,          DType::kFloat8E4M3Fn,
    DType::kFloat8E4M3FnUz, DType::kFloat8E5M2, DType::kFloat8E5M2FnUz, DType::kFloat8E8M0Fnu,
    DType::kBFloat16,       DType::kFloat16,    DType::kFloat32,        DType::kFloat64};

class KernelsTest : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { SelectKernelTarget(GetParam()); }
  void TearDown() override { SelectKernelTarget(0); }
};

std::vector<std::byte> RandomBytes(size_t size, uint32_t seed, DType dtype) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  if (dtype == DType::kBool) {
    for (std::byte& byte : bytes) byte &= std::byte{1};
  }
  return bytes;
}

/// Clears the exponents' top bits in every 16-bit word, so that no value is NaN or infinite.
void MakeFinite(std::vector<std::byte>* bytes) {
  for (size_t i = 1; i < bytes->size(); i += 2) (*bytes)[i] &= std::byte{0xbb};
}

void ExpectSame(DType dtype, const std::byte* values, size_t count) {
  Partial expected, got;
  AccumulateReference(dtype, values, count, &expected);
  ASSERT_TRUE(Accumulate(dtype, values, count, &got));
  EXPECT_EQ(got.nan_count, expected.nan_count);
  EXPECT_EQ(got.inf_count, expected.inf_count);
  EXPECT_EQ(got.max_int, expected.max_int);
  EXPECT_EQ(got.min_int, expected.min_int);
  if (expected.nan_count > 0) return;
  EXPECT_EQ(got.max, expected.max);
  EXPECT_EQ(got.min, expected.min);
  if (expected.inf_count > 0) {
    EXPECT_EQ(std::isnan(got.sum), std::isnan(expected.sum));
    return;
  }
  const long double magnitude = std::sqrt(expected.sum_squares * static_cast<long double>(count));
  EXPECT_LE(std::fabs(got.sum - expected.sum), 1e-14L * magnitude);
  EXPECT_LE(std::fabs(got.sum_squares - expected.sum_squares), 1e-14L * expected.sum_squares);
}

TEST_P(KernelsTest, AgreesWithTheReference) {
  uint32_t seed = 0;
  for (const DType dtype : kWithKernel) {
    const size_t size = ElementSize(dtype);
    std::vector<size_t> counts;
    // A vector has at most 64 bytes; kernels take up to 4 of them at once.
    for (size_t n = 0; n <= 3 * 4 * 64 / size + 3; n += 1 + n / 40) counts.push_back(n);
    for (const size_t n : {4095, 4096, 4097, 9000}) counts.push_back(n);
    for (const size_t count : counts) {
      for (const size_t offset : {0, 1, 8}) {
        SCOPED_TRACE(testing::Message() << tensor::DTypeName(dtype, tensor::DTypeSpelling::kNumpy)
                                        << " count " << count << " offset " << offset);
        auto bytes = RandomBytes(count * size + offset, ++seed, dtype);
        ExpectSame(dtype, bytes.data() + offset, count);
        if (dtype >= DType::kFloat8E4M3Fn) MakeFinite(&bytes);
        ExpectSame(dtype, bytes.data() + offset, count);
      }
    }
  }
}

TEST_P(KernelsTest, AddsUp) {
  const auto bytes = RandomBytes(4000, 9, DType::kInt32);
  Partial whole, parts;
  Accumulate(DType::kInt32, bytes.data(), 1000, &whole);
  Accumulate(DType::kInt32, bytes.data(), 300, &parts);
  Accumulate(DType::kInt32, bytes.data() + 1200, 0, &parts);
  Accumulate(DType::kInt32, bytes.data() + 1200, 700, &parts);
  EXPECT_EQ(parts.max_int, whole.max_int);
  EXPECT_EQ(parts.min_int, whole.min_int);
  EXPECT_NEAR(static_cast<double>(parts.sum), static_cast<double>(whole.sum), 1e-3);
}

TEST_P(KernelsTest, XorOfAnyLength) {
  const auto bytes = RandomBytes(700, 4, DType::kUInt8);
  for (size_t size = 0; size < bytes.size(); ++size) {
    uint64_t expected = 0;
    for (size_t i = 0; i < size; ++i) {
      expected ^= static_cast<uint64_t>(bytes[i]) << (8 * (i % 8));
    }
    ASSERT_EQ(XorWords(bytes.data(), size), expected) << size;
  }
}

TEST_P(KernelsTest, FingerprintOfAnyLength) {
  auto bytes = RandomBytes(9000, 5, DType::kUInt8);
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 50) {
    ASSERT_EQ(Fingerprint(bytes.data(), size, 3), FingerprintReference(bytes.data(), size, 3))
        << size;
  }
  const uint64_t before = Fingerprint(bytes.data(), bytes.size(), 0);
  for (const size_t at : {0, 4095, 4096, 8999}) {
    bytes[at] ^= std::byte{1};
    EXPECT_NE(Fingerprint(bytes.data(), bytes.size(), 0), before) << at;
    bytes[at] ^= std::byte{1};
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + 4096, bytes.begin() + 4096);
  EXPECT_NE(Fingerprint(bytes.data(), bytes.size(), 0), before) << "blocks in another order";
}

std::string TargetName(const testing::TestParamInfo<int64_t>& info) {
  return std::string(KernelTargetName(info.param));
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, KernelsTest, testing::ValuesIn(KernelTargets()), TargetName);

TEST(RareDTypesTest, RareDTypesAreLeftToTheReference) {
  Partial partial;
  const std::byte data[16] = {};
  for (const DType dtype : {DType::kUnknown, DType::kUInt32, DType::kUInt64, DType::kComplex32,
                            DType::kComplex64, DType::kComplex128}) {
    EXPECT_FALSE(Accumulate(dtype, data, 1, &partial));
  }
}

}  // namespace
}  // namespace msprobe::stats
