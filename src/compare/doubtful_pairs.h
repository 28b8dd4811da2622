#pragma once

#include <vector>

#include "compare/comparison.h"

namespace msprobe::compare {

/// By target node: its pair is a guess. Calls of one API inside a module are told apart by nothing
/// but their numbers: where one side makes more of them, every pair behind may be off by one.
std::vector<bool> DoubtfulPairs(const Comparison& comparison);

}  // namespace msprobe::compare
