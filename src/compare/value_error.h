#pragma once

#include <optional>

#include "compare/comparison.h"
#include "dump/record.h"

namespace msprobe::compare {

/// How far one value of target is from its partner, in units of the tensor's own size. Unlike the
/// index it does not blow up where the mean of a tensor is nearly 0. `smallest_scale`: the size of
/// single elements below which a tensor counts as nothing but rounding.
struct ValueError {
  bool compared = false;
  double error = 0;  ///< 0 … infinite; md5: 0 or 1
};
ValueError MeasureValue(CompareMode mode, const dump::Record& record, const dump::Value& value,
                        const ValueResult& result, double smallest_scale = 0);

/// Errors up to this are rounding. `dtype` is the coarsest that took part (of a node's inputs and
/// outputs on both sides), `reduction` the number of terms of its longest sum. `roundings` of a sum
/// of one term are fine, where the user says so.
double RoundingTolerance(CompareMode mode, DType dtype, double reduction,
                         std::optional<double> roundings = {});

}  // namespace msprobe::compare
