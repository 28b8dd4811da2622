#pragma once

#include <vector>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "compare/node_facts.h"
#include "compare/tolerance.h"

namespace msprobe::compare {

/// Nodes whose differing values mean nothing pass.
void Excuse(const std::vector<Excused>& excused, Comparison* comparison);

/// What a rule allows is neither an error nor a warning: the scalar arguments that it names, and
/// numbers that stay within its bounds. Other shapes, dtypes and the like remain; indices stay.
void PassWithinRules(const ToleranceProfile& profile, const FactTable& facts,
                     Comparison* comparison);

}  // namespace msprobe::compare
