#pragma once

#include <filesystem>
#include <optional>

#include "msprobe/status.h"

namespace msprobe::app {

struct RepairResult {
  bool was_torn = false;
  uint64_t bytes_cut = 0;           ///< behind the last whole record
  std::filesystem::path kept_copy;  ///< the file as it was: "<name>.torn"
};

/// Closes a dump.json, debug.json, stack.json or construct.json that a crash cut inside a record:
/// everything up to the last whole record stays. A whole file is left alone. Readers see the old
/// file or the new one, never half of it. Errors: NotFound, Corrupt (damaged otherwise), Io.
Result<RepairResult> RepairJsonFile(const std::filesystem::path& directory, std::string_view name);

}  // namespace msprobe::app
