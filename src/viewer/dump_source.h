#pragma once

#include <filesystem>
#include <memory>

#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// The graphs of a dump directory, built when they are asked for instead of read from a file.
Result<std::unique_ptr<visfile::VisSource>> OpenDump(const std::filesystem::path& directory,
                                                     const visfile::ReadOptions& options);

}  // namespace msprobe::viewer
