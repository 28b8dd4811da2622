#include "compare/excuses.h"
#include "compare/first_divergence.h"

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

bool IsCollection(const Comparison& comparison, NodeId id) {
  return comparison.target->nodes[id].kind == graph::NodeKind::kApiCollection;
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
