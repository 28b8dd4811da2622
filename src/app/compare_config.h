#pragma once

#include <filesystem>

#include "base/diagnostics.h"
#include "msprobe/status.h"

namespace msprobe::app {

/// compare.json: which dumps `msprobe graph -i` works on. Relative paths count from the working
/// directory, as everywhere on the command line.
struct CompareConfig {
  std::filesystem::path npu_path;
  std::filesystem::path bench_path;  ///< empty: build one graph
  bool print_compare_log = true;
};

/// Unknown keys go to diagnostics (kUnknownKey) with the nearest known one.
Result<CompareConfig> ReadCompareConfig(const std::filesystem::path& path,
                                        base::Diagnostics* diagnostics);

}  // namespace msprobe::app
