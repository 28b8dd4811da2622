#include "compare/tolerance_learning.h"

#include <algorithm>
#include <cmath>

#include "compare/node_facts.h"

namespace msprobe::compare {

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
    it->second.rounding = std::max(it->second.rounding, node.rounding);
  }
}

ToleranceProfile ToleranceLearner::Profile(double margin) const {
  // Two runs that happen to agree bit by bit do not say that a third must.
  constexpr double kRoundings = 4;
  ToleranceProfile profile;
  for (const std::string& place : order_) {
    const Seen& seen = seen_.at(place);
    profile.AddRule({place, std::max(margin * seen.error, kRoundings * seen.rounding)});
  }
  return profile;
}

}  // namespace msprobe::compare
