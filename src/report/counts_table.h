#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/unit_summary.h"

namespace msprobe::report {

/// The counts of the units that were compared, of each mode for itself, in the order in which the
/// modes come up.
std::vector<UnitSummary> TotalsByMode(std::span<const UnitSummary> units);

/// Lines "name  target  golden" of all units together: by what was compared, nodes, matched,
/// unmatched by reason, colour bands, damage.
void AppendCounts(std::span<const UnitSummary> units, std::string* out);

}  // namespace msprobe::report
