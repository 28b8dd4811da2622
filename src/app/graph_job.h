#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "graph/match.h"
#include "msprobe/status.h"
#include "report/unit_summary.h"

namespace msprobe::app {

enum class OutputFormat : uint8_t { kVis, kVisDb };

/// Build the graphs of a dump, or compare them with those of a golden dump, and write them for
/// the viewers.
struct GraphJob {
  std::filesystem::path target;
  std::filesystem::path golden;  ///< empty: build only
  std::filesystem::path output;  ///< directory, created if missing
  OutputFormat format = OutputFormat::kVis;
  graph::MatchMode match_mode = graph::MatchMode::kStrict;
  bool fuzzy_match = false;
  bool ignore_classes = false;          ///< mapping without a file: only class names may differ
  std::filesystem::path layer_mapping;  ///< yaml; empty: none
  bool overflow_check = false;
  bool complete_stack = false;
  size_t threads = 0;     ///< 0: all cores
  std::string framework;  ///< "pytorch", "mindspore": a note if a dump says otherwise; may be empty
};

/// Told about the progress of a job, from any thread but never by two at once.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  virtual void JobStarted(size_t /*units*/) {}
  virtual void UnitStarted(size_t /*unit*/, const std::string& /*label*/) {}
  /// `fraction` of the unit is done, 0 … 1.
  virtual void UnitProgress(size_t /*unit*/, double /*fraction*/) {}
  virtual void UnitCompared(const std::string& /*label*/, const compare::Comparison&) {}
  virtual void UnitFinished(size_t /*unit*/, const report::UnitSummary&) {}
};

struct GraphSummary {
  std::vector<report::UnitSummary> units;      ///< in the order of steps and ranks
  std::vector<std::filesystem::path> outputs;  ///< written files
  double seconds = 0;
};

/// An error means that nothing could be started (or the job was cancelled). A unit that fails is
/// told by its `status`; the others go on. `diagnostics` collects what did not stop the work.
Result<GraphSummary> RunGraphJob(const GraphJob& job, GraphObserver* observer,
                                 const base::CancelToken* cancel, base::Diagnostics* diagnostics);

}  // namespace msprobe::app
