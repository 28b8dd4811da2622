#include "app/tolerance_job.h"

#include <mutex>
#include <string>
#include <utility>

#include "app/output_directory.h"
#include "base/file.h"
#include "compare/tolerance_learning.h"

namespace msprobe::app {

namespace {

class LearningSink final : public UnitSink {
 public:
  Status Start(std::span<const PlannedUnit>, size_t, base::Diagnostics*) override {
    return Status::Ok();
  }
  Status TakeGraph(const UnitTurn&, const graph::Graph&) override { return Status::Ok(); }
  Status TakeComparison(const UnitTurn& turn, const compare::Comparison& comparison,
                        const compare::DivergenceReport&) override {
    if (comparison.mode == compare::CompareMode::kMd5 ||
        comparison.mode == compare::CompareMode::kStructure) {
      return InvalidArgumentError(
          "the dumps have " + std::string(comparison.mode == compare::CompareMode::kMd5
                                              ? "checksums, which know no rounding"
                                              : "no numbers"),
          "collect both runs with task statistics or tensor, without md5",
          turn.plan.target.directory.string());
    }
    const std::lock_guard lock(mutex_);
    // Other steps and ranks have other call numbers.
    learner_.Add(comparison, turn.threads, [&](graph::NodeId id) {
      return compare::NamePattern(comparison.target->nodes[id].name);
    });
    return Status::Ok();
  }

  const compare::ToleranceLearner& learner() const { return learner_; }

 private:
  std::mutex mutex_;
  compare::ToleranceLearner learner_;
};

}  // namespace

Result<ToleranceSummary> LearnTolerances(const ToleranceJob& job, JobObserver* observer,
                                         const base::CancelToken* cancel,
                                         base::Diagnostics* diagnostics) {
  std::error_code error;
  if (std::filesystem::exists(job.output, error)) {
    return InvalidArgumentError("the file is there already", "give another name with -o",
                                job.output.string());
  }
  OutputDirectory directory;
  const std::filesystem::path parent = job.output.parent_path();
  MSPROBE_RETURN_IF_ERROR(directory.Prepare(parent.empty() ? "." : parent));
  LearningSink sink;
  ToleranceSummary summary;
  MSPROBE_ASSIGN_OR_RETURN(summary.results, RunUnits(job, &sink, observer, cancel, diagnostics));
  for (const report::UnitSummary& unit : summary.results.units) {
    if (!unit.status.ok()) return unit.status;
  }
  if (sink.learner().places() == 0) {
    return InvalidArgumentError("nothing in the two runs could be compared",
                                "give two runs of one program, collected alike",
                                job.target.string());
  }
  compare::ToleranceProfile profile;
  sink.learner().AddTo(job.margin, &profile);
  summary.rules = profile.rules().size();
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(job.output));
  MSPROBE_RETURN_IF_ERROR(file.Append(profile.ToYaml(
      "Errors that are rounding, learned by msprobe tolerance from two runs. The first rule that "
      "fits a name decides.")));
  MSPROBE_RETURN_IF_ERROR(file.Commit(/*replace=*/false));
  return summary;
}

}  // namespace msprobe::app
