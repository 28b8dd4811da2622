#pragma once

#include <filesystem>
#include <string>
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

/// What to do when a file of a job cannot be written.
inline constexpr const char* kOutputAdvice =
    "see that the disk has room, or choose another directory with -o";

/// "YYYYmmddHHMMSS", local time: part of the names of all files that one job writes.
std::string TimeStamp();

}  // namespace msprobe::app
