#include "stats/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/half.h"

namespace msprobe::stats {

namespace {

template <class T>
T Load(const std::byte* values, size_t index) {
  T value;
  std::memcpy(&value, values + index * sizeof(T), sizeof(T));
  return value;
}

void AddReal(long double value, Partial* partial) {
  if (std::isnan(value)) {
    ++partial->nan_count;
    return;
  }
  partial->inf_count += std::isinf(value);
  partial->max = std::max(partial->max, static_cast<double>(value));
  partial->min = std::min(partial->min, static_cast<double>(value));
  partial->sum += value;
  partial->sum_squares += value * value;
}

template <class T, class Convert>
void AddReals(const std::byte* values, size_t count, Convert convert, Partial* partial) {
  for (size_t i = 0; i < count; ++i) AddReal(convert(Load<T>(values, i)), partial);
}

double Absolute(double real, double imaginary) { return std::hypot(real, imaginary); }

/// Squares of float32 neither overflow nor vanish in float64, so this is as exact and far quicker.
double Absolute(float real, float imaginary) {
  const double square =
      static_cast<double>(real) * real + static_cast<double>(imaginary) * imaginary;
  if (std::isfinite(square)) return std::sqrt(square);
  // As doubles: the absolute value of an infinity and a signalling NaN is infinite as well.
  return std::hypot(static_cast<double>(real), static_cast<double>(imaginary));
}

template <class T, class Convert>
void AddComplex(const std::byte* values, size_t count, Convert convert, Partial* partial) {
  for (size_t i = 0; i < count; ++i) {
    AddReal(Absolute(convert(Load<T>(values, 2 * i)), convert(Load<T>(values, 2 * i + 1))),
            partial);
  }
}

template <class T>
void AddIntegers(const std::byte* values, size_t count, Partial* partial) {
  for (size_t i = 0; i < count; ++i) {
    const T value = Load<T>(values, i);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8 is a number here
    int64_t ordered = static_cast<int64_t>(value);
    if constexpr (std::is_same_v<T, uint64_t>) ordered ^= std::numeric_limits<int64_t>::min();
    partial->max_int = std::max(partial->max_int, ordered);
    partial->min_int = std::min(partial->min_int, ordered);
    partial->sum += static_cast<long double>(value);
    partial->sum_squares += static_cast<long double>(value) * static_cast<long double>(value);
  }
}

constexpr auto kSame = [](auto value) { return value; };

}  // namespace

void AccumulateReference(DType dtype, const std::byte* values, size_t count, Partial* partial) {
  switch (dtype) {
    case DType::kUnknown: return;
    case DType::kBool:
    case DType::kUInt8: return AddIntegers<uint8_t>(values, count, partial);
    case DType::kUInt16: return AddIntegers<uint16_t>(values, count, partial);
    case DType::kUInt32: return AddIntegers<uint32_t>(values, count, partial);
    case DType::kUInt64: return AddIntegers<uint64_t>(values, count, partial);
    case DType::kInt8: return AddIntegers<int8_t>(values, count, partial);
    case DType::kInt16: return AddIntegers<int16_t>(values, count, partial);
    case DType::kInt32: return AddIntegers<int32_t>(values, count, partial);
    case DType::kInt64: return AddIntegers<int64_t>(values, count, partial);
    case DType::kFloat8E4M3Fn:
    case DType::kFloat8E4M3FnUz:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FnUz:
    case DType::kFloat8E8M0Fnu: {
      const float* table = tensor::Float8Values(dtype);
      return AddReals<uint8_t>(
          values, count, [table](uint8_t bits) { return table[bits]; }, partial);
    }
    case DType::kBFloat16:
      return AddReals<uint16_t>(values, count, tensor::BFloat16ToFloat, partial);
    case DType::kFloat16: return AddReals<uint16_t>(values, count, tensor::Float16ToFloat, partial);
    case DType::kFloat32: return AddReals<float>(values, count, kSame, partial);
    case DType::kFloat64: return AddReals<double>(values, count, kSame, partial);
    case DType::kComplex32:
      return AddComplex<uint16_t>(values, count, tensor::Float16ToFloat, partial);
    case DType::kComplex64: return AddComplex<float>(values, count, kSame, partial);
    case DType::kComplex128: return AddComplex<double>(values, count, kSame, partial);
  }
}

const FingerprintKeys& TheFingerprintKeys() {
  alignas(64) static const FingerprintKeys keys = [] {
    FingerprintKeys made;
    uint64_t state = 0;
    for (uint64_t& key : made) {  // splitmix64
      uint64_t mixed = state += 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      key = mixed ^ (mixed >> 31);
    }
    return made;
  }();
  return keys;
}

uint64_t FingerprintTail(const std::byte* block, size_t word, size_t bytes) {
  uint64_t sum = 0;
  for (size_t at = word * sizeof(uint64_t); at < bytes; at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, block + at, std::min(sizeof(value), bytes - at));
    const uint64_t key = TheFingerprintKeys()[at / sizeof(uint64_t)];
    const auto low = static_cast<uint32_t>(value + key);
    const uint32_t high = static_cast<uint32_t>(value >> 32) + static_cast<uint32_t>(key >> 32);
    sum += static_cast<uint64_t>(low) * high;
  }
  return sum;
}

uint64_t FingerprintReference(const std::byte* data, size_t bytes, uint64_t seed) {
  for (size_t begin = 0; begin < bytes; begin += sizeof(FingerprintKeys)) {
    seed = ChainFingerprint(
        seed, FingerprintTail(data + begin, 0, std::min(sizeof(FingerprintKeys), bytes - begin)));
  }
  return seed;
}

}  // namespace msprobe::stats
