#pragma once

#include "msprobe/tensor_view.h"
#include "stats/pair_metrics.h"

namespace msprobe::stats {

/// What ComparePair must give, one element at a time in long double. For tests.
PairMetrics ComparePairReference(const TensorView& target, const TensorView& golden);

}  // namespace msprobe::stats
