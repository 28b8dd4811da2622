#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/unit_job.h"

namespace msprobe::app {

enum class OutputFormat : uint8_t { kVis, kVisDb };

/// Build the graphs of a dump, or compare them with those of a golden dump, and write them for
/// the viewers.
struct GraphJob : UnitJob {
  std::filesystem::path output;  ///< directory, created if missing
  OutputFormat format = OutputFormat::kVis;
  bool complete_stack = false;
};

struct GraphSummary : UnitResults {
  std::vector<std::filesystem::path> outputs;  ///< written files
};

/// Errors as RunUnits().
Result<GraphSummary> RunGraphJob(const GraphJob& job, JobObserver* observer,
                                 const base::CancelToken* cancel, base::Diagnostics* diagnostics);

}  // namespace msprobe::app
