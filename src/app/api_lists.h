#pragma once

#include <filesystem>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::app {

/// Where the Python package that belongs to this program has its support_wrap_ops.yaml, one for
/// each framework: in the environment that both are installed in, or in the sources of a build.
Result<std::vector<std::filesystem::path>> FindApiLists();

}  // namespace msprobe::app
