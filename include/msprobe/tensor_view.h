#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace msprobe {

enum class DType : uint8_t {
  kUnknown,
  kBool,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat8E4M3Fn,
  kFloat8E4M3FnUz,
  kFloat8E5M2,
  kFloat8E5M2FnUz,
  kFloat8E8M0Fnu,
  kBFloat16,
  kFloat16,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
};

/// A tensor in memory that somebody else owns. `shape` and `strides` have the same length and
/// count elements, not bytes; `strides` may be zero (expanded) or negative (reversed), `data` is
/// the element at index (0, …, 0) and need not be aligned. Empty `strides` mean C order.
/// A 0-d tensor has empty `shape`.
struct TensorView {
  const std::byte* data = nullptr;
  DType dtype = DType::kUnknown;
  /// The values are the complex conjugate / the negative of what lies in memory.
  bool conjugate = false;
  bool negative = false;
  std::span<const int64_t> shape;
  std::span<const int64_t> strides;
};

/// Number of elements; the caller guarantees that the product does not overflow (readers check).
int64_t ElementCount(std::span<const int64_t> shape);

/// Bytes of one element; 0 for kUnknown.
size_t ElementSize(DType dtype);

/// True if the elements lie one behind the other in C order.
bool IsContiguous(const TensorView& view);

}  // namespace msprobe
