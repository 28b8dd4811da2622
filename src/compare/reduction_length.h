#pragma once

#include "dump/record.h"
#include "graph/graph.h"

namespace msprobe::compare {

/// The number of terms of the longest sum that a node computes for one element: K of a product,
/// C·kh·kw of a convolution, what a norm or a mean runs over; 1 where elements stay apart. Of
/// operations that are not known, of modules that hold others, and of gradients of sums: at least
/// the longest extent of its tensors.
double ReductionLength(const graph::Node& node, const dump::Record& record);

}  // namespace msprobe::compare
