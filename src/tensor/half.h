#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "msprobe/tensor_view.h"

namespace msprobe::tensor {

/// Exact: every float16, bfloat16 and fp8 value is a float32 value.
constexpr float Float16ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  uint32_t word = (magnitude << 13) + (112u << 23);  // 112 = difference of the exponent biases
  if (magnitude >= 0x7c00u) word += 112u << 23;      // Inf, NaN
  // Through an integer and not through a denormal float: the program may flush those to zero.
  if (magnitude < 0x0400u) word = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(word | sign);
}

constexpr float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

namespace internal {

constexpr float PowerOfTwo(int exponent) {
  if (exponent >= -126) return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
  return std::bit_cast<float>(uint32_t{1} << (exponent + 149));
}

/// Sign, exponent, mantissa without looking at special values.
constexpr float DecodeFloat8(unsigned bits, int mantissa_bits, int bias) {
  const auto mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
  const auto exponent = static_cast<int>((bits & 0x7fu) >> mantissa_bits);
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const float magnitude = static_cast<float>(significand) *
                          PowerOfTwo((exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

constexpr float Float8ValueOf(DType dtype, unsigned bits) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (dtype) {
    case DType::kFloat8E4M3Fn: return (bits & 0x7fu) == 0x7fu ? kNaN : DecodeFloat8(bits, 3, 7);
    case DType::kFloat8E4M3FnUz: return bits == 0x80u ? kNaN : DecodeFloat8(bits, 3, 8);
    case DType::kFloat8E5M2:
      if ((bits & 0x7fu) == 0x7cu) return bits == 0x7cu ? kInfinity : -kInfinity;
      return (bits & 0x7fu) > 0x7cu ? kNaN : DecodeFloat8(bits, 2, 15);
    case DType::kFloat8E5M2FnUz: return bits == 0x80u ? kNaN : DecodeFloat8(bits, 2, 16);
    case DType::kFloat8E8M0Fnu:
      return bits == 0xffu ? kNaN : PowerOfTwo(static_cast<int>(bits) - 127);
    default: return kNaN;
  }
}

template <DType kType>
inline constexpr std::array<float, 256> kFloat8Table = [] {
  std::array<float, 256> table{};
  for (unsigned bits = 0; bits < 256; ++bits) table[bits] = Float8ValueOf(kType, bits);
  return table;
}();

}  // namespace internal

constexpr bool IsFloat8(DType dtype) {
  return dtype >= DType::kFloat8E4M3Fn && dtype <= DType::kFloat8E8M0Fnu;
}

/// The values of the 256 bit patterns of an fp8 dtype; nullptr for any other dtype.
constexpr const float* Float8Values(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3Fn: return internal::kFloat8Table<DType::kFloat8E4M3Fn>.data();
    case DType::kFloat8E4M3FnUz: return internal::kFloat8Table<DType::kFloat8E4M3FnUz>.data();
    case DType::kFloat8E5M2: return internal::kFloat8Table<DType::kFloat8E5M2>.data();
    case DType::kFloat8E5M2FnUz: return internal::kFloat8Table<DType::kFloat8E5M2FnUz>.data();
    case DType::kFloat8E8M0Fnu: return internal::kFloat8Table<DType::kFloat8E8M0Fnu>.data();
    default: return nullptr;
  }
}

}  // namespace msprobe::tensor
