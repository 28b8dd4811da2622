#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "base/crc32.h"

namespace msprobe::tensor {
namespace {

/// The value by the definition of the format: sign, exponent, mantissa.
double ByDefinition(uint32_t bits, int exponent_bits, int mantissa_bits, int bias) {
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const bool negative = ((bits >> (mantissa_bits + exponent_bits)) & 1) != 0;
  const double magnitude = exponent == 0
                               ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                               : std::ldexp((1u << mantissa_bits) + mantissa,
                                            static_cast<int>(exponent) - bias - mantissa_bits);
  return negative ? -magnitude : magnitude;
}

/// CRC-32 of the float32 values of all bit patterns, every NaN as 0x7fc00000.
uint32_t CrcOf(std::span<const float> values) {
  std::vector<float> canonical(values.begin(), values.end());
  for (float& value : canonical) {
    if (std::isnan(value)) value = std::bit_cast<float>(0x7fc00000u);
  }
  return base::Crc32(0, std::as_bytes(std::span(canonical)));
}

// The checksums below were computed with torch 2.14: all bit patterns, .to(torch.float32).

TEST(Half, Float16IsExactForEveryBitPattern) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = Float16ToFloat(static_cast<uint16_t>(bits));
    values.push_back(value);
    if ((bits & 0x7c00u) != 0x7c00u) {
      ASSERT_EQ(value, ByDefinition(bits, 5, 10, 15)) << bits;
      ASSERT_EQ(std::signbit(value), bits >= 0x8000u) << bits;
    } else if ((bits & 0x03ffu) != 0) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_TRUE(std::isinf(value)) << bits;
    }
  }
  EXPECT_EQ(CrcOf(values), 0x3020c7a7u);
}

TEST(Half, BFloat16IsExactForEveryBitPattern) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = BFloat16ToFloat(static_cast<uint16_t>(bits));
    values.push_back(value);
    if ((bits & 0x7f80u) == 0x7f80u) continue;
    ASSERT_EQ(value, ByDefinition(bits, 8, 7, 127)) << bits;
  }
  EXPECT_EQ(CrcOf(values), 0x28c5ed34u);
}

TEST(Half, Float8IsExactForEveryBitPattern) {
  const auto crc = [](DType dtype) { return CrcOf(std::span(Float8Values(dtype), 256)); };
  EXPECT_EQ(crc(DType::kFloat8E4M3Fn), 0x2fdee9acu);
  EXPECT_EQ(crc(DType::kFloat8E4M3FnUz), 0xf2dfa052u);
  EXPECT_EQ(crc(DType::kFloat8E5M2), 0x3d83fd11u);
  EXPECT_EQ(crc(DType::kFloat8E5M2FnUz), 0x09c70b84u);
  EXPECT_EQ(crc(DType::kFloat8E8M0Fnu), 0x719979bau);
}

TEST(Half, Float8ValuesOnlyForFloat8) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(Float8Values(dtype) != nullptr, IsFloat8(dtype)) << i;
  }
}

TEST(Half, IsUsableAtCompileTime) {
  static_assert(Float16ToFloat(0x3c00) == 1.0f);
  static_assert(Float16ToFloat(0x0001) == 0x1p-24f);
  static_assert(BFloat16ToFloat(0xbf80) == -1.0f);
}

}  // namespace
}  // namespace msprobe::tensor
