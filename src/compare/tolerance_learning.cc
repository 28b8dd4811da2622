#include "compare/tolerance_learning.h"

#include <algorithm>
#include <cmath>

#include "compare/node_facts.h"

namespace msprobe::compare {

namespace {

/// Two runs that happen to agree bit by bit do not say that a third must. Short dtypes are rounded
/// once, at the end of a sum in float32.
double Rounding(const NodeFacts& node) {
  constexpr double kRoundings = 4;
  const double unit = UnitRoundoff(node.dtype);
  if (unit > UnitRoundoff(DType::kFloat32)) return unit;
  return kRoundings * unit * std::sqrt(std::max(1.0, node.reduction));
}

}  // namespace

void ToleranceLearner::Add(const Comparison& comparison, size_t threads) {
  const FactTable facts = GatherFacts(comparison, threads, nullptr);
  for (const graph::NodeId id : graph::EntryOrder(*comparison.target)) {
    const NodeFacts& node = facts.nodes[id];
    const double error = std::max(node.error_in, node.error_out);
    if (!node.compared || !std::isfinite(error)) continue;
    const std::string_view name = comparison.target->nodes[id].name;
    const std::string place = by_pattern_ ? NamePattern(name) : std::string(name);
    const auto [it, is_new] = seen_.try_emplace(place);
    if (is_new) order_.push_back(place);
    it->second.error = std::max(it->second.error, error);
    it->second.rounding = std::max(it->second.rounding, Rounding(node));
  }
}

void ToleranceLearner::AddTo(double margin, ToleranceProfile* profile) const {
  for (const std::string& place : order_) {
    const Seen& seen = seen_.at(place);
    profile->AddRule({place, std::max(margin * seen.error, seen.rounding)});
  }
}

}  // namespace msprobe::compare
