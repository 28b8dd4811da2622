#include "app/reference_judge.h"

#include <string>

#include "compare/tolerance_learning.h"
#include "dump/rank_dump.h"

namespace msprobe::app {

Result<compare::DivergenceReport> JudgeByReference(const ThreeRuns& runs,
                                                   const compare::ToleranceProfile& rules,
                                                   size_t threads,
                                                   const ComparePair& compare_pair) {
  constexpr double kMargin = 3;
  compare::ToleranceProfile profile = rules;
  {
    MSPROBE_ASSIGN_OR_RETURN(const compare::Comparison comparison,
                             compare_pair(runs.golden, runs.reference));
    const bool checksums = comparison.mode == compare::CompareMode::kMd5;
    if (checksums || comparison.mode == compare::CompareMode::kStructure) {
      return InvalidArgumentError(
          std::string(checksums ? "checksums say" : "a structure says") +
              " nothing about precision",
          "collect all three runs with task statistics or tensor, without md5, or leave "
          "--reference out",
          runs.reference->dump->directory().string());
    }
    compare::ToleranceLearner learner(/*by_pattern=*/false);
    learner.Add(comparison, threads);
    learner.AddTo(kMargin, &profile);
  }
  MSPROBE_ASSIGN_OR_RETURN(compare::Comparison comparison,
                           compare_pair(runs.target, runs.reference));
  return compare::FindDivergences(&comparison, threads, &profile);
}

}  // namespace msprobe::app
