#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "dump/layout.h"
#include "graph/match.h"
#include "msprobe/status.h"
#include "report/unit_details.h"
#include "report/unit_summary.h"

namespace msprobe::app {

/// Which dumps are worked on, and how their nodes are paired: the same for every command.
struct UnitJob {
  std::filesystem::path target;
  std::filesystem::path golden;  ///< empty: the target's graphs alone
  graph::MatchMode match_mode = graph::MatchMode::kStrict;
  bool fuzzy_match = false;
  bool ignore_classes = false;          ///< mapping without a file: only class names may differ
  std::filesystem::path layer_mapping;  ///< yaml; empty: none
  std::filesystem::path tolerance;      ///< yaml that says what is rounding; empty: the defaults
  /// A run in high precision: roles come from how far the target is from it, compared with how far
  /// golden is. Empty: from target against golden.
  std::filesystem::path reference;
  bool overflow_check = false;
  bool flat_if_none = false;  ///< take dumps that were collected without a hierarchy as well
  size_t threads = 0;         ///< 0: all cores
  std::string framework;  ///< "pytorch", "mindspore": a note if a dump says otherwise; may be empty
  bool want_details = false;  ///< fill UnitResults::details
};

/// One dump to build, or one pair to compare.
struct PlannedUnit {
  dump::DumpUnit target;
  std::optional<dump::DumpUnit> golden;
  std::optional<dump::DumpUnit> reference;
  std::string label;      ///< "step0/rank1"; the directory if it is the only one
  std::string name_part;  ///< "_step0_rank1" of the output's name

  /// None where the number is that of a process.
  std::optional<int64_t> rank() const {
    return target.is_process ? std::optional<int64_t>() : target.rank;
  }
};

/// Told about the progress of a job, from any thread but never by two at once.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void JobStarted(size_t /*units*/) {}
  virtual void UnitStarted(size_t /*unit*/, const std::string& /*label*/) {}
  /// `fraction` of the unit is done, 0 … 1.
  virtual void UnitProgress(size_t /*unit*/, double /*fraction*/) {}
  virtual void UnitCompared(const std::string& /*label*/, const compare::Comparison&) {}
  virtual void UnitFinished(size_t /*unit*/, const report::UnitSummary&) {}
};

/// A unit whose turn it is.
struct UnitTurn {
  size_t index;  ///< in the plan
  const PlannedUnit& plan;
  size_t threads;  ///< for this unit
  const base::CancelToken* cancel;
  base::Diagnostics* diagnostics;
  report::UnitSummary* summary;  ///< filled already, but for `output`
};

/// What becomes of the units: files, tables. Units of one step come from several threads at once.
class UnitSink {
 public:
  virtual ~UnitSink() = default;
  /// Once, when all units are known and none has been read.
  virtual Status Start(std::span<const PlannedUnit> plan, size_t threads,
                       base::Diagnostics* diagnostics) = 0;
  virtual Status TakeGraph(const UnitTurn& turn, const graph::Graph& graph) = 0;
  virtual Status TakeComparison(const UnitTurn& turn, const compare::Comparison& comparison,
                                const compare::DivergenceReport& divergences) = 0;
};

struct UnitResults {
  std::vector<report::UnitSummary> units;    ///< in the order of steps and ranks
  std::vector<report::UnitDetails> details;  ///< beside `units`; empty if nobody wants them
  double seconds = 0;
};

/// Finds the units, builds their graphs, compares them if there is a golden side, and hands them to
/// `sink`. An error means that nothing could be started (or the job was cancelled). A unit that
/// fails is told by its `status`; the others go on. `diagnostics` collects what did not stop the
/// work.
Result<UnitResults> RunUnits(const UnitJob& job, UnitSink* sink, JobObserver* observer,
                             const base::CancelToken* cancel, base::Diagnostics* diagnostics);

}  // namespace msprobe::app
