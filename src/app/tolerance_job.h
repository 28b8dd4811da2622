#pragma once

#include <cstddef>
#include <filesystem>

#include "app/unit_job.h"
#include "base/cancel.h"
#include "base/diagnostics.h"
#include "msprobe/status.h"

namespace msprobe::app {

/// Two runs that are both right, as `target` and `golden`, to learn from how far apart they are.
struct ToleranceJob : UnitJob {
  std::filesystem::path output;  ///< the yaml to write; must not be there yet
  double margin = 2;             ///< bounds are this many times the largest error seen
};

struct ToleranceSummary {
  UnitResults results;
  size_t rules = 0;
};

/// Errors: as RunUnits(); InvalidArgument where the dumps have nothing to learn from (md5,
/// structure, no pair compared) or the output exists; a unit that failed fails the whole: nothing
/// is written then.
Result<ToleranceSummary> LearnTolerances(const ToleranceJob& job, JobObserver* observer,
                                         const base::CancelToken* cancel,
                                         base::Diagnostics* diagnostics);

}  // namespace msprobe::app
