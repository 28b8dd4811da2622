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
/// lies behind fewer communications between the ranks.
std::vector<PlacedNode> FirstCulprits(std::span<const UnitSummary> units);

/// In the same order, where no unit has a culprit: the first node whose difference nothing
/// explains.
std::optional<PlacedNode> FirstDifference(std::span<const UnitSummary> units);

/// The units in the order of what they have to show: culprits, first differences, the rest.
std::vector<const UnitSummary*> ByWhatTheyShow(std::span<const UnitSummary> units);

}  // namespace msprobe::report
