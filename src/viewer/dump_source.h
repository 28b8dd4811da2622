#pragma once

#include <filesystem>
#include <memory>

#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// The graphs of a dump directory, or its comparison with a golden dump (empty: none), made when
/// a unit is asked for instead of read from a file. Errors: as app::PlanUnits.
Result<std::unique_ptr<visfile::VisSource>> OpenDump(const std::filesystem::path& directory,
                                                     const std::filesystem::path& golden,
                                                     const visfile::ReadOptions& options);

}  // namespace msprobe::viewer
