#include "stats/pair_metrics_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/half.h"

namespace msprobe::stats {

namespace {

// 64 bits of mantissa: holds every 64-bit integer.
using Real = long double;

template <class T>
Real Read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return static_cast<Real>(value);
}

Real ReadHalf(float (*widen)(uint16_t), const std::byte* from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return widen(bits);
}

Real ReadReal(DType dtype, const std::byte* from) {
  if (const float* table = tensor::Float8Values(dtype)) return table[std::to_integer<int>(*from)];
  switch (dtype) {
    case DType::kBool: return *from != std::byte{0} ? 1 : 0;
    case DType::kUInt8: return Read<uint8_t>(from);
    case DType::kUInt16: return Read<uint16_t>(from);
    case DType::kUInt32: return Read<uint32_t>(from);
    case DType::kUInt64: return Read<uint64_t>(from);
    case DType::kInt8: return Read<int8_t>(from);
    case DType::kInt16: return Read<int16_t>(from);
    case DType::kInt32: return Read<int32_t>(from);
    case DType::kInt64: return Read<int64_t>(from);
    case DType::kBFloat16: return ReadHalf(tensor::BFloat16ToFloat, from);
    case DType::kFloat16:
    case DType::kComplex32: return ReadHalf(tensor::Float16ToFloat, from);
    case DType::kFloat32:
    case DType::kComplex64: return Read<float>(from);
    case DType::kFloat64:
    case DType::kComplex128: return Read<double>(from);
    default: return 0;
  }
}

struct Parts {
  Real real;
  Real imaginary;
};

Parts ReadElement(const TensorView& view, const std::vector<int64_t>& index) {
  const auto size = static_cast<int64_t>(ElementSize(view.dtype));
  int64_t offset = 0;
  int64_t row_major = 1;
  for (size_t d = index.size(); d-- > 0;) {
    offset += index[d] * (view.strides.empty() ? row_major : view.strides[d]);
    row_major *= view.shape[d];
  }
  const std::byte* from = view.data + offset * size;
  Parts parts{ReadReal(view.dtype, from), 0};
  if (tensor::IsComplex(view.dtype)) parts.imaginary = ReadReal(view.dtype, from + size / 2);
  if (view.conjugate) parts.imaginary = -parts.imaginary;
  if (view.negative && view.dtype != DType::kBool) parts = {-parts.real, -parts.imaginary};
  return parts;
}

class Sums {
 public:
  void Add(Real t, Real g) {
    ++metrics_.count;
    if (!std::isfinite(t) || !std::isfinite(g)) {
      if (std::isnan(t) && std::isnan(g)) {
        ++metrics_.special_both;
        Judge(0);
      } else if (t == g) {
        Judge(0);
      } else {
        ++metrics_.special_mismatch;
        Judge(std::numeric_limits<Real>::infinity());
        max_abs_ = std::numeric_limits<Real>::infinity();
      }
      return;
    }
    const Real difference = std::fabs(t - g);
    dot_ += t * g;
    target_squares_ += t * t;
    golden_squares_ += g * g;
    difference_squares_ += difference * difference;
    max_abs_ = std::max(max_abs_, difference);
    if (difference == 0) return Judge(0);
    Judge(difference / std::fabs(g));  // infinite for g = 0
  }

  PairMetrics Finish() {
    const bool one_zero = (target_squares_ == 0) != (golden_squares_ == 0);
    metrics_.cosine_defined = metrics_.special_mismatch == 0 && !one_zero;
    metrics_.cosine = 0;
    if (metrics_.cosine_defined) {
      const Real norms = std::sqrt(target_squares_) * std::sqrt(golden_squares_);
      metrics_.cosine = norms == 0 ? 1 : static_cast<double>(dot_ / norms);
    }
    const bool mismatch = metrics_.special_mismatch > 0;
    metrics_.euclidean_distance = mismatch ? std::numeric_limits<double>::infinity()
                                           : static_cast<double>(std::sqrt(difference_squares_));
    metrics_.max_abs_error = static_cast<double>(max_abs_);
    metrics_.max_relative_error = static_cast<double>(max_relative_);
    if (metrics_.count == 0) return metrics_;
    const auto count = static_cast<double>(metrics_.count);
    metrics_.ratio_thousandth = static_cast<double>(below_thousandth_) / count;
    metrics_.ratio_five_thousandths = static_cast<double>(below_five_thousandths_) / count;
    return metrics_;
  }

 private:
  void Judge(Real relative) {
    max_relative_ = std::max(max_relative_, relative);
    // The limits are the real numbers, and not what float64 makes of 0.001.
    below_thousandth_ += relative < Real{1} / 1000 ? 1 : 0;
    below_five_thousandths_ += relative < Real{1} / 200 ? 1 : 0;
  }

  PairMetrics metrics_;
  uint64_t below_thousandth_ = 0;
  uint64_t below_five_thousandths_ = 0;
  Real dot_ = 0, target_squares_ = 0, golden_squares_ = 0, difference_squares_ = 0;
  Real max_abs_ = 0, max_relative_ = 0;
};

}  // namespace

PairMetrics ComparePairReference(const TensorView& target, const TensorView& golden) {
  const bool complex = tensor::IsComplex(target.dtype) || tensor::IsComplex(golden.dtype);
  Sums sums;
  std::vector<int64_t> index(target.shape.size(), 0);
  for (int64_t left = ElementCount(target.shape); left > 0; --left) {
    const Parts t = ReadElement(target, index);
    const Parts g = ReadElement(golden, index);
    sums.Add(t.real, g.real);
    if (complex) sums.Add(t.imaginary, g.imaginary);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < target.shape[d]) break;
      index[d] = 0;
    }
  }
  return sums.Finish();
}

}  // namespace msprobe::stats
