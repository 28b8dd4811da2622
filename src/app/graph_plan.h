#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/graph_job.h"
#include "dump/layout.h"

namespace msprobe::app {

/// One dump to build, or one pair to compare.
struct PlannedUnit {
  dump::DumpUnit target;
  std::optional<dump::DumpUnit> golden;
  std::string label;      ///< "step0/rank1"; the directory if it is the only one
  std::string name_part;  ///< "_step0_rank1" of the output's name
};

/// Finds the dumps of both sides and pairs them, in numeric order of steps and ranks.
Result<std::vector<PlannedUnit>> PlanUnits(const GraphJob& job, base::Diagnostics* diagnostics);

/// Creates the output directory, sees that it can be written to, and notes what lies there that
/// would keep TensorBoard from showing the new files.
Status PrepareOutput(const GraphJob& job, base::Diagnostics* diagnostics);

/// `status` with `advice`, if it has none.
Status WithAdvice(Status status, std::string advice);

/// "YYYYmmddHHMMSS", local time.
std::string TimeStamp();

}  // namespace msprobe::app
