#include "compare/tolerance_learning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/node_facts.h"

namespace msprobe::compare {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two runs that happen to agree bit by bit do not say that a third must. Short dtypes are rounded
/// once, at the end of a sum in float32.
double Rounding(const NodeFacts& node) {
  constexpr double kRoundings = 4;
  const double unit = UnitRoundoff(node.dtype);
  if (unit > UnitRoundoff(DType::kFloat32)) return unit;
  return kRoundings * unit * std::sqrt(std::max(1.0, node.reduction));
}

}  // namespace

void ToleranceLearner::Add(const Comparison& comparison, size_t threads, const PlaceOf& place_of) {
  const FactTable facts = GatherFacts(comparison, threads, nullptr);
  for (const graph::NodeId id : graph::EntryOrder(*comparison.target)) {
    const NodeFacts& node = facts.nodes[id];
    const double error = std::max(node.error_in, node.error_out);
    if (!node.compared || !std::isfinite(error)) continue;
    const std::string place = place_of(id);
    if (place.empty()) continue;
    const auto [it, is_new] = seen_.try_emplace(place);
    if (is_new) order_.push_back(place);
    Seen& seen = it->second;
    seen.error = std::max(seen.error, error);
    seen.integer_error = std::max(seen.integer_error, node.integer_error);
    seen.has_integers |= node.has_integers;
    seen.rounding = std::max(seen.rounding, Rounding(node));
    for (uint32_t i = node.arguments_begin; i < node.arguments_end; ++i) {
      const FactTable::Argument& argument = facts.arguments[i];
      // No bound fits what is only written in another way.
      const double by = argument.error > 0 ? argument.error : kInfinity;
      double& largest = seen.arguments[facts.texts.text(argument.name)];
      largest = std::max(largest, by);
    }
    if (!std::isfinite(node.parameter_error)) continue;
    seen.parameter_error = std::max(seen.parameter_error, node.parameter_error);
  }
}

void ToleranceLearner::AddTo(double margin, ToleranceProfile* profile) const {
  for (const std::string& place : order_) {
    const Seen& seen = seen_.at(place);
    ToleranceProfile::Rule rule{place, std::max(margin * seen.error, seen.rounding)};
    // A parameter whose gradient is nothing but noise (the bias in front of a softmax) goes
    // anywhere; what the node computes does not, and keeps its own bound. Nor do whole numbers
    // become inexact by standing beside numbers that are rounded.
    const double parameters = margin * seen.parameter_error;
    const double integers = margin * seen.integer_error;
    if (parameters > rule.bound) rule.parameters = parameters;
    if (seen.has_integers && integers < rule.bound) rule.integers = integers;
    for (const auto& [name, by] : seen.arguments) {
      if (by > rule.bound) rule.arguments.push_back(name);
    }
    profile->AddRule(std::move(rule));
  }
}

}  // namespace msprobe::compare
