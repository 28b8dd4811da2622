#pragma once

#include <span>
#include <string>

#include "report/unit_summary.h"

namespace msprobe::report {

/// The closing summary as one JSON object: schema/graph_summary.schema.json.
std::string SummaryJson(std::span<const UnitSummary> units, double seconds, int exit_code);

}  // namespace msprobe::report
