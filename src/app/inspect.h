#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "msprobe/status.h"

namespace msprobe::app {

enum class FileState : uint8_t { kWhole, kMissing, kTorn, kDamaged, kRepaired };
std::string_view FileStateName(FileState state);

struct JsonFileReport {
  std::string name;
  FileState state = FileState::kWhole;
  uint64_t bytes = 0;
  Status problem;          ///< kDamaged
  uint64_t bytes_cut = 0;  ///< kRepaired: what stood behind the last whole record
  std::string kept_copy;   ///< kRepaired: the name of the file as it was
};

struct EntryCounts {
  uint64_t module_forward = 0;
  uint64_t module_backward = 0;
  uint64_t api_forward = 0;
  uint64_t api_backward = 0;
  uint64_t parameters_grad = 0;
  uint64_t other = 0;
  uint64_t unreadable = 0;

  uint64_t total() const {
    return module_forward + module_backward + api_forward + api_backward + parameters_grad + other +
           unreadable;
  }
};

struct TensorFileCounts {
  uint64_t referenced = 0;
  uint64_t missing = 0;
  uint64_t damaged = 0;  ///< cannot be read, or contradicts its record
  uint64_t extra = 0;    ///< in dump_tensor_data, but no record names it
  uint64_t bytes = 0;
};

/// What one rank's directory holds.
struct UnitReport {
  std::string label;
  std::filesystem::path directory;
  Status status;  ///< why dump.json could not be read; counts are empty then
  std::string framework, task, level;
  bool has_statistics = false;
  bool has_checksums = false;
  std::vector<JsonFileReport> files;
  EntryCounts entries;
  uint64_t without_place = 0;  ///< entries that construct.json does not name
  uint64_t tensors = 0;
  TensorFileCounts tensor_files;
  std::vector<Status> tensor_problems;   ///< the first few missing and damaged ones
  std::vector<std::string> extra_files;  ///< the first few

  /// Something is missing, torn or damaged (and was not repaired).
  bool has_damage() const;
};

struct InspectOptions {
  bool repair = false;  ///< torn json files are cut at the last whole record
  const base::CancelToken* cancel = nullptr;
};

/// Every rank below `root`. Errors: as FindDumpUnits, Cancelled.
Result<std::vector<UnitReport>> InspectDump(const std::filesystem::path& root,
                                            const InspectOptions& options,
                                            base::Diagnostics* diagnostics);

/// 0 whole, 2 a rank cannot be read, 3 something is missing, torn or damaged.
int ExitCode(const std::vector<UnitReport>& units);

}  // namespace msprobe::app
