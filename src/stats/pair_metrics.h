#pragma once

#include <cstdint>

#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe::stats {

/// Element-wise comparison of two tensors, all arithmetic in float64 (complex: on both parts).
/// Relative error of an element is |t - g| / |g|; where g = 0 it is 0 if t = 0, else infinite.
/// NaN against NaN and equal infinities count as equal; any other pair with a NaN or an infinity
/// counts as wrong (relative error infinite).
struct PairMetrics {
  uint64_t count = 0;             ///< elements
  uint64_t special_both = 0;      ///< elements NaN on both sides
  uint64_t special_mismatch = 0;  ///< NaN or infinity on one side only, or of other sign
  double cosine = 0;              ///< 1 if both are all zero; see cosine_defined
  bool cosine_defined = true;     ///< false: one side is all zero, or non-finite values are left
  double euclidean_distance = 0;
  double max_abs_error = 0;
  double max_relative_error = 0;
  double ratio_thousandth = 1;        ///< share of elements with relative error < 0.001
  double ratio_five_thousandths = 1;  ///< share of elements with relative error < 0.005
};

/// Shapes must be equal; dtypes may differ. Errors: InvalidArgument (shape), Unsupported (dtype).
Result<PairMetrics> ComparePair(const TensorView& target, const TensorView& golden);

}  // namespace msprobe::stats
