#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/unit_plan.h"
#include "base/cancel.h"
#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "msprobe/status.h"
#include "report/unit_details.h"
#include "report/unit_summary.h"

namespace msprobe::app {

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
