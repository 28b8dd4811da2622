#include "stats/pair_metrics_blocks.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "stats/pair_metrics_kernels.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace msprobe::stats {

namespace {

// Memory need not be aligned for Stored.
template <class Stored, class T>
void Convert(const std::byte* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<T>(value);
  }
}

template <class T>
void ConvertHalf(void (*widen)(const std::byte*, size_t, float*), const std::byte* from,
                 size_t count, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    widen(from, count, to);
  } else {
    float part[256];
    for (size_t done = 0; done < count; done += 256) {
      const size_t size = std::min<size_t>(256, count - done);
      widen(from + 2 * done, size, part);
      for (size_t i = 0; i < size; ++i) to[done + i] = part[i];
    }
  }
}

template <class T>
void ConvertBytes(const float* table, const std::byte* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = table[std::to_integer<uint8_t>(from[i])];
}

/// `count` counts real numbers.
template <class T>
void ConvertValues(DType dtype, const std::byte* from, size_t count, T* to) {
  if (const float* table = tensor::Float8Values(dtype)) return ConvertBytes(table, from, count, to);
  switch (dtype) {
    case DType::kBool:
      for (size_t i = 0; i < count; ++i) to[i] = from[i] != std::byte{0} ? T{1} : T{0};
      return;
    case DType::kUInt8: return Convert<uint8_t>(from, count, to);
    case DType::kUInt16: return Convert<uint16_t>(from, count, to);
    case DType::kUInt32: return Convert<uint32_t>(from, count, to);
    case DType::kUInt64: return Convert<uint64_t>(from, count, to);
    case DType::kInt8: return Convert<int8_t>(from, count, to);
    case DType::kInt16: return Convert<int16_t>(from, count, to);
    case DType::kInt32: return Convert<int32_t>(from, count, to);
    case DType::kInt64: return Convert<int64_t>(from, count, to);
    case DType::kBFloat16: return ConvertHalf(WidenBFloat16, from, count, to);
    case DType::kFloat16:
    case DType::kComplex32: return ConvertHalf(WidenFloat16, from, count, to);
    case DType::kFloat32:
    case DType::kComplex64: return Convert<float>(from, count, to);
    case DType::kFloat64:
    case DType::kComplex128: return Convert<double>(from, count, to);
    default: return;
  }
}

}  // namespace

bool FitsFloat32(DType dtype) {
  switch (dtype) {
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kFloat64:
    case DType::kComplex128: return false;
    default: return true;
  }
}

template <class T>
ValueBlocks<T>::ValueBlocks(const TensorView& view, bool as_complex, size_t block_elements)
    : dtype_(view.dtype),
      as_complex_(as_complex && !tensor::IsComplex(view.dtype)),
      reader_(view, block_elements * ElementSize(view.dtype)),
      values_(block_elements * (as_complex ? 2 : 1)) {}

template <class T>
const T* ValueBlocks<T>::Next(size_t* count) {
  const auto block = reader_.Next();
  if (block.empty()) return nullptr;
  *count = block.size() / ElementSize(dtype_) * (tensor::IsComplex(dtype_) ? 2 : 1);
  ConvertValues(dtype_, block.data(), *count, values_.data());
  if (as_complex_) {
    for (size_t i = *count; i-- > 0;) {
      values_[2 * i] = values_[i];
      values_[2 * i + 1] = 0;
    }
    *count *= 2;
  }
  return values_.data();
}

template class ValueBlocks<float>;
template class ValueBlocks<double>;

}  // namespace msprobe::stats
