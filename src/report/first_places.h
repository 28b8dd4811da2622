#pragma once

#include <optional>
#include <span>
#include <vector>

#include "report/unit_summary.h"

namespace msprobe::report {

/// A node of one of several units.
struct PlacedNode {
  const UnitSummary* unit = nullptr;
  const ListedNode* node = nullptr;
};

/// The culprits of all units, best first, at most kListedNodes: the first step first, in it what
/// lies behind fewer communications between the ranks; what may be a consequence last.
std::vector<PlacedNode> FirstCulprits(std::span<const UnitSummary> units);

/// In the same order, in the steps before the first that has a culprit: the first node whose
/// difference nothing explains.
std::optional<PlacedNode> FirstDifference(std::span<const UnitSummary> units);

/// Those that have culprits or first differences to show by step, in it culprits first; then the
/// rest.
std::vector<const UnitSummary*> ByWhatTheyShow(std::span<const UnitSummary> units);

}  // namespace msprobe::report
