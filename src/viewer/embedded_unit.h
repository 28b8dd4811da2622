#pragma once

#include <string>

#include "msprobe/status.h"
#include "viewer/open_file.h"
#include "viewer/report_part.h"

namespace msprobe::viewer {

/// How much may still be said about single nodes.
struct DetailBudget {
  uint64_t bytes_left = 0;
  uint64_t left_out = 0;  ///< nodes without details
};

/// Appends one unit of an exported report: all its nodes, or those of `part`, and the details of as
/// many as the budget allows, the suspicious ones first. `units`: those of the report.
Status AppendEmbeddedUnit(const LoadedUnit& unit, const ReportPart* part, compare::CompareMode mode,
                          const std::vector<visfile::UnitEntry>& units, DetailBudget* budget,
                          std::string* out);

}  // namespace msprobe::viewer
