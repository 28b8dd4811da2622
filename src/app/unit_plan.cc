#include "app/unit_plan.h"

#include <utility>

namespace msprobe::app {

namespace {

PlannedUnit Plan(dump::DumpUnit target, std::optional<dump::DumpUnit> golden,
                 dump::LayoutKind kind) {
  PlannedUnit unit;
  if (target.step) {
    const std::string step = "step" + std::to_string(*target.step);
    unit.label = step;
    unit.name_part = "_" + step;
  }
  // A process number says nothing to whoever reads the file's name.
  const bool process = target.is_process || (golden && golden->is_process);
  if (target.rank) {
    if (!unit.label.empty()) unit.label += "/";
    unit.label += (target.is_process ? "proc" : "rank") + std::to_string(*target.rank);
    if (!process) unit.name_part += "_rank" + std::to_string(*target.rank);
  }
  if (kind == dump::LayoutKind::kSingle) unit.label = target.directory.string();
  unit.target = std::move(target);
  unit.golden = std::move(golden);
  return unit;
}

}  // namespace

Result<std::vector<PlannedUnit>> PlanUnits(const UnitJob& job, base::Diagnostics* diagnostics) {
  std::vector<PlannedUnit> units;
  MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree target,
                           dump::FindDumpUnits(job.target, diagnostics));
  if (job.golden.empty()) {
    if (!job.reference.empty()) {
      return InvalidArgumentError("--reference needs a golden side of the target's precision",
                                  "give GOLDEN, or leave --reference out");
    }
    for (const dump::DumpUnit& unit : target.units) {
      units.push_back(Plan(unit, std::nullopt, target.kind));
    }
    return units;
  }
  MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree golden,
                           dump::FindDumpUnits(job.golden, diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(std::vector<dump::UnitPair> pairs, dump::PairUnits(target, golden));
  for (dump::UnitPair& pair : pairs) {
    units.push_back(Plan(std::move(pair.target), std::move(pair.golden), target.kind));
  }
  if (job.reference.empty()) return units;
  MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree reference,
                           dump::FindDumpUnits(job.reference, diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(pairs, dump::PairUnits(target, reference, dump::OtherSide::kReference));
  for (size_t i = 0; i < units.size(); ++i) units[i].reference = std::move(pairs[i].golden);
  return units;
}

Result<graph::MatchMode> ParseMatchMode(std::string_view word) {
  if (word == "strict") return graph::MatchMode::kStrict;
  if (word == "loose") return graph::MatchMode::kLoose;
  if (word == "auto") return graph::MatchMode::kAuto;
  return InvalidArgumentError("match is '" + std::string(word) + "'",
                              "give 'strict', 'loose' or 'auto'");
}

Result<graph::MatchOptions> MatchOptionsOf(const UnitJob& job) {
  graph::MatchOptions options;
  const bool by_names = job.fuzzy_match || job.ignore_classes || !job.layer_mapping.empty();
  if (job.match_mode == graph::MatchMode::kAuto && by_names) {
    return InvalidArgumentError("match 'auto' pairs without names and takes no rules for them",
                                "leave out fuzzy_match and layer_mapping, or give another match");
  }
  options.mode = job.match_mode;
  options.fuzzy = job.fuzzy_match;
  options.use_mapping = job.ignore_classes || !job.layer_mapping.empty();
  if (!job.layer_mapping.empty()) {
    MSPROBE_ASSIGN_OR_RETURN(options.mapping, graph::LoadLayerMapping(job.layer_mapping));
  }
  return options;
}

}  // namespace msprobe::app
