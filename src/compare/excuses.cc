#include "compare/excuses.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

bool IsJudged(const NodeResult& result) {
  return result.status != NodeStatus::kUnreadable && result.status != NodeStatus::kUnmatched;
}

/// The collection that `id` stands in is judged anew, by its children.
void ForgetCollection(NodeId id, Comparison* comparison) {
  const NodeId parent = comparison->target->nodes[id].parent;
  if (parent == kNoNode ||
      comparison->target->nodes[parent].kind != graph::NodeKind::kApiCollection)
    return;
  NodeResult& collection = comparison->nodes[parent];
  if (!IsJudged(collection)) return;
  collection.index = std::numeric_limits<double>::quiet_NaN();
  collection.status = NodeStatus::kPass;
  collection.reason = 0;
}

/// Arguments that the rule names, or that are within its bound.
void PassArguments(const ToleranceProfile::Rule& rule, const FactTable& table,
                   const NodeFacts& facts, std::span<ValueResult> values) {
  for (uint32_t i = facts.arguments_begin; i < facts.arguments_end; ++i) {
    const FactTable::Argument& argument = table.arguments[i];
    const bool within = argument.error > 0 && argument.error <= facts.argument_tolerance;
    if (!within && !rule.Excuses(table.texts.text(argument.name))) continue;
    values[argument.value].status = NodeStatus::kPass;
  }
}

}  // namespace

void Excuse(const std::vector<Excused>& excused, Comparison* comparison) {
  if (excused.empty()) return;
  std::string_view text;  // neighbours have the same, most often
  for (const Excused& node : excused) {
    NodeResult& result = comparison->nodes[node.node];
    if (!IsJudged(result)) continue;
    if (node.reason != text) {
      text = node.reason;
      comparison->reasons.emplace_back(text);
    }
    result.status = NodeStatus::kPass;
    result.index = 0;
    result.reason = static_cast<uint32_t>(comparison->reasons.size() - 1);
    for (size_t i = 0; i < result.values_size; ++i) {
      ValueResult& value = comparison->values[result.values_begin + i];
      if (!value.unreadable) value.status = NodeStatus::kPass;
    }
    ForgetCollection(node.node, comparison);
  }
  JudgeParents(comparison);
}

void PassWithinRules(const ToleranceProfile& profile, const FactTable& table,
                     Comparison* comparison) {
  uint32_t reason = 0;
  for (NodeId id = 0; id < comparison->nodes.size(); ++id) {
    NodeResult& result = comparison->nodes[id];
    const NodeFacts& facts = table.nodes[id];
    if (result.status != NodeStatus::kWarning && result.status != NodeStatus::kError) continue;
    if (!facts.compared || facts.differs()) continue;
    const ToleranceProfile::Rule* rule = profile.RuleOf(comparison->target->nodes[id].name);
    if (rule == nullptr) continue;
    const std::span values =
        std::span(comparison->values).subspan(result.values_begin, result.values_size);
    PassArguments(*rule, table, facts, values);
    NodeStatus left = result.beside_values;
    for (const ValueResult& value : values) left = std::max(left, value.status);
    if (left >= result.status) continue;
    if (reason == 0) {
      reason = static_cast<uint32_t>(comparison->reasons.size());
      comparison->reasons.emplace_back("within what a rule of the tolerances allows");
    }
    result.status = left;
    result.reason = reason;
    for (const ValueResult& value : values) {
      if (left != NodeStatus::kPass && value.status == left) result.reason = value.reason;
    }
    ForgetCollection(id, comparison);
  }
  if (reason != 0) JudgeParents(comparison);
}

}  // namespace msprobe::compare
