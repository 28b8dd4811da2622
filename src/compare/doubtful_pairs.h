#pragma once

#include <vector>

#include "compare/comparison.h"

namespace msprobe::compare {

/// Calls of one API inside a module are told apart by nothing but their numbers. Where some of them
/// have no partner on the other side, every pair may be off by one.
struct CallCounts {
  bool doubtful = false;   ///< some calls of that API in the module have no partner
  bool only_here = false;  ///< golden makes no such call in the module
  bool same = false;       ///< golden makes as many there
};

/// By target node; for all but APIs only `only_here` is set.
std::vector<CallCounts> CountCalls(const Comparison& comparison);

}  // namespace msprobe::compare
