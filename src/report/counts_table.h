#pragma once

#include <span>
#include <string>

#include "report/unit_summary.h"

namespace msprobe::report {

/// Lines "name  target  golden" of all units together: by what was compared, nodes, matched,
/// unmatched by reason, colour bands, damage.
void AppendCounts(std::span<const UnitSummary> units, std::string* out);

}  // namespace msprobe::report
