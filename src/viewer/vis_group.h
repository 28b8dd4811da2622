#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// The `.vis` files of one run, one a step and rank and in their order, as one source. Only the
/// first is looked into; the others are opened when their unit is asked for.
Result<std::unique_ptr<visfile::VisSource>> OpenVisGroup(
    const std::vector<std::filesystem::path>& files, const visfile::ReadOptions& options);

}  // namespace msprobe::viewer
