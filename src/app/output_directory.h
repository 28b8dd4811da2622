#pragma once

#include <filesystem>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::app {

/// Where a job writes. Directories that it made go away with it if nothing was put into them.
class OutputDirectory {
 public:
  OutputDirectory() = default;
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  ~OutputDirectory();

  /// Makes `output` and missing parents, and sees that it can be written to.
  Status Prepare(const std::filesystem::path& output);

 private:
  std::vector<std::filesystem::path> made_;
};

}  // namespace msprobe::app
