#pragma once

#include <memory>

#include "app/unit_plan.h"
#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// The graphs of the job's target, or its comparison with the golden side, made when a unit is
/// asked for instead of read from a file. Errors: as app::PlanUnits; those of reading a layer
/// mapping or tolerances.
Result<std::unique_ptr<visfile::VisSource>> OpenDump(const app::UnitJob& job,
                                                     const visfile::ReadOptions& options);

}  // namespace msprobe::viewer
