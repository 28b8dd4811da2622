#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "msprobe/status.h"
#include "report/overflow_report.h"

namespace msprobe::app {

/// Looks for the first NaN or Inf over all ranks of a dump, step by step.
struct OverflowJob {
  std::filesystem::path dump;
  size_t threads = 0;  ///< 0: all cores; as many ranks are in memory at once
  /// Told how much is done, 0 … 1, from any thread but never by two at once; may be empty.
  std::function<void(double)> progress;
};

/// An error means that nothing could be read. Ranks that fail stand in the report.
Result<report::OverflowReport> FindOverflow(const OverflowJob& job, const base::CancelToken* cancel,
                                            base::Diagnostics* diagnostics);

/// Writes `json` as overflow_<time>.json into `directory`, made if missing. Returns its path.
Result<std::filesystem::path> WriteOverflowJson(const std::filesystem::path& directory,
                                                const std::string& json);

/// 0 fine, 1 found and asked to fail on it, 3 some records could not be read; 2 or 4, before 1, of
/// a rank that failed.
int ExitCode(const report::OverflowReport& report, bool fail_on_overflow);

}  // namespace msprobe::app
