#include "app/reference_judge.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "compare/tolerance_learning.h"
#include "dump/rank_dump.h"

namespace msprobe::app {

namespace {

Status CheckPaired(const compare::Comparison& comparison, std::string_view side) {
  const auto& partners = comparison.match.golden_of_target;
  const auto paired = [](graph::NodeId partner) { return partner != graph::kNoNode; };
  const bool has_nodes = partners.size() > 1;  // behind the root, which is always paired
  if (!has_nodes || std::any_of(partners.begin() + 1, partners.end(), paired)) return Status::Ok();
  return InvalidArgumentError(
      "no node of the reference pairs with one of " + std::string(side),
      "collect the reference with the model of golden, as its names are those of golden, or leave "
      "--reference out",
      comparison.golden->dump->directory().string());
}

}  // namespace

Result<compare::DivergenceReport> JudgeByReference(const ThreeRuns& runs, const graph::Match& match,
                                                   const compare::ToleranceProfile& rules,
                                                   size_t threads,
                                                   const ComparePair& compare_pair) {
  constexpr double kMargin = 3;
  compare::ToleranceProfile profile = rules;
  {
    MSPROBE_ASSIGN_OR_RETURN(const compare::Comparison comparison,
                             compare_pair(runs.golden, runs.reference, /*map_names=*/false));
    const bool checksums = comparison.mode == compare::CompareMode::kMd5;
    if (checksums || comparison.mode == compare::CompareMode::kStructure) {
      return InvalidArgumentError(
          std::string(checksums ? "checksums say" : "a structure says") +
              " nothing about precision",
          "collect all three runs with task statistics or tensor, without md5, or leave "
          "--reference out",
          runs.reference->dump->directory().string());
    }
    MSPROBE_RETURN_IF_ERROR(CheckPaired(comparison, "golden"));
    compare::ToleranceLearner learner;
    learner.Add(comparison, threads, [&](graph::NodeId golden) {
      const graph::NodeId target = match.target_of_golden[golden];
      return target == graph::kNoNode ? std::string()
                                      : std::string(runs.target->nodes[target].name);
    });
    learner.AddTo(kMargin, &profile);
  }
  MSPROBE_ASSIGN_OR_RETURN(compare::Comparison comparison,
                           compare_pair(runs.target, runs.reference, /*map_names=*/true));
  MSPROBE_RETURN_IF_ERROR(CheckPaired(comparison, "target"));
  return compare::FindDivergences(&comparison, threads, &profile);
}

}  // namespace msprobe::app
