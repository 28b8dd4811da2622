#include <limits>

#include "compare/first_divergence.h"

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

bool IsJudged(const NodeResult& result) {
  return result.status != NodeStatus::kUnreadable && result.status != NodeStatus::kUnmatched;
}

bool IsCollection(const Comparison& comparison, NodeId id) {
  return comparison.target->nodes[id].kind == graph::NodeKind::kApiCollection;
}

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
    const NodeId parent = comparison->target->nodes[node.node].parent;
    if (parent == kNoNode || !IsCollection(*comparison, parent)) continue;
    NodeResult& collection = comparison->nodes[parent];
    if (!IsJudged(collection)) continue;
    collection.index = std::numeric_limits<double>::quiet_NaN();
    collection.status = NodeStatus::kPass;
    collection.reason = 0;
  }
  JudgeParents(comparison);
}

}  // namespace

void ApplyReport(const DivergenceReport& report, Comparison* comparison) {
  Excuse(report.excused, comparison);
  const auto raisable = [](const NodeResult& result) {
    return result.status == NodeStatus::kPass || result.status == NodeStatus::kWarning;
  };
  for (const Divergence& divergence : report.divergences) {
    NodeResult& result = comparison->nodes[divergence.node];
    if (divergence.role != Role::kCulprit || !raisable(result)) continue;
    // What a pass says ("NaN on both sides") does not explain an error.
    const bool explained = result.status == NodeStatus::kWarning && result.reason != 0;
    result.status = NodeStatus::kError;
    if (!explained) {
      result.reason = static_cast<uint32_t>(comparison->reasons.size());
      comparison->reasons.emplace_back(divergence.reason);
    }
    const NodeId parent = comparison->target->nodes[divergence.node].parent;
    if (parent == kNoNode || !IsCollection(*comparison, parent)) continue;
    // A collection is as bad as its worst child.
    NodeResult& collection = comparison->nodes[parent];
    if (!raisable(collection)) continue;
    collection.status = NodeStatus::kError;
    collection.reason = result.reason;
  }
}

}  // namespace msprobe::compare
