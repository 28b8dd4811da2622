#pragma once

#include <cstddef>

#include "msprobe/tensor_view.h"
#include "stats/kernels.h"

namespace msprobe::stats {

/// The plain loop in long double that says what is right: kernels are tested against it, and
/// dtypes too rare for a kernel use it. Nothing happens for kUnknown.
void AccumulateReference(DType dtype, const std::byte* values, size_t count, Partial* partial);

}  // namespace msprobe::stats
