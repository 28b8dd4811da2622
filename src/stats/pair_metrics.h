#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cancel.h"
#include "msprobe/status.h"
#include "msprobe/tensor_view.h"
#include "stats/ulp_kernels.h"

namespace msprobe::stats {

/// Element-wise comparison of two tensors, all arithmetic in float64, but for two tensors of the
/// same 16-bit float type: their sums, and differences of elements of very different size, are
/// float32, which is off by less than 1e-6. The real and the imaginary
/// part of a complex element count as two elements.
/// Relative error of an element is |t - g| / |g|; where g = 0 it is 0 if t = 0, else infinite.
/// NaN against NaN and equal infinities count as equal; any other pair with a NaN or an infinity
/// counts as wrong (relative error infinite).
struct PairMetrics {
  uint64_t count = 0;             ///< elements
  uint64_t special_both = 0;      ///< elements NaN on both sides
  uint64_t special_mismatch = 0;  ///< NaN or infinity on one side only, or of other sign
  double cosine = 1;              ///< 1 if both are all zero; see cosine_defined
  bool cosine_defined = true;     ///< false: one side is all zero, or special_mismatch > 0
  double euclidean_distance = 0;  ///< infinite if special_mismatch > 0
  double max_abs_error = 0;       ///< infinite if special_mismatch > 0
  double max_relative_error = 0;  ///< up to one rounding of float64
  /// Share of elements with relative error < 0.001 / 0.005, that is |t - g| < 0.001 * |g| with one
  /// rounding of float64 in the product: elements that lie exactly on the limit are above it.
  double ratio_thousandth = 1;
  double ratio_five_thousandths = 1;
  UlpCounts ulps{};  ///< of floats, of many elements a sample; all 0 where there is no unit
};

/// Shapes must be equal; dtypes and strides may differ. 64-bit integers are subtracted exactly.
/// `unit`: the dtype whose last place UlpCounts are about; unknown: the coarser of both. Units of
/// another dtype than that of both sides are those of its normal numbers.
/// The result is the same for any number of threads, which only large tensors use.
/// Errors: InvalidArgument (shape), Unsupported (dtype), Cancelled.
Result<PairMetrics> ComparePair(const TensorView& target, const TensorView& golden,
                                size_t threads = 1, const base::CancelToken* cancel = nullptr,
                                DType unit = DType::kUnknown);

}  // namespace msprobe::stats
