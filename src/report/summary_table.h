#pragma once

#include <span>
#include <string>

#include "report/unit_summary.h"

namespace msprobe::report {

/// The closing table of a job: totals, first divergence of each unit, suspicious nodes.
std::string SummaryTable(std::span<const UnitSummary> units);

}  // namespace msprobe::report
