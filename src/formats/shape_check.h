#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/stored_tensor.h"
#include "msprobe/status.h"

namespace msprobe::formats {

/// Corrupt for negative extents, LimitExceeded for too many dimensions or elements. Extents beside
/// a 0 count too, so that products over any part of a checked shape cannot overflow.
Status CheckShape(std::span<const int64_t> shape, const TensorFileLimits& limits);

/// Strides of C order, or of Fortran order; the shape is a checked one.
std::vector<int64_t> ContiguousStrides(std::span<const int64_t> shape, bool fortran_order);

/// "(2, 3)", "(4,)", "()"
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace msprobe::formats
