#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/graph_job.h"

namespace msprobe::app {

/// Finds the dumps of both sides and pairs them, in numeric order of steps and ranks.
Result<std::vector<PlannedUnit>> PlanUnits(const UnitJob& job, base::Diagnostics* diagnostics);

/// "strict", "loose", "auto". Errors: InvalidArgument, any other word.
Result<graph::MatchMode> ParseMatchMode(std::string_view word);

/// How the job's nodes are paired. Errors: those of reading its layer mapping.
Result<graph::MatchOptions> MatchOptionsOf(const UnitJob& job);

/// Notes what in the job's output directory would keep TensorBoard from showing the new files.
void NoteAboutOutput(const GraphJob& job, base::Diagnostics* diagnostics);

/// `status` with `advice`, if it has none.
Status WithAdvice(Status status, std::string advice);

/// "YYYYmmddHHMMSS", local time.
std::string TimeStamp();

}  // namespace msprobe::app
