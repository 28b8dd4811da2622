#include "compare/doubtful_pairs.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "graph/node_name.h"

namespace msprobe::compare {

namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;

/// "Torch.add", and the direction: what such a call is named without its number.
std::string CallKind(const Graph& graph, NodeId id) {
  const graph::NodeName name = graph::ParseNodeName(graph.nodes[id].name);
  return std::string(name.api_id) + (name.direction == dump::Direction::kBackward ? "<" : ">");
}

bool IsApi(const Graph& graph, NodeId id) { return graph.nodes[id].kind == graph::NodeKind::kApi; }

/// Kinds of calls of which some below this pair of parents have no partner there.
std::unordered_set<std::string> LonelyKinds(const Comparison& comparison, NodeId parent,
                                            NodeId golden_parent) {
  std::unordered_set<std::string> kinds;
  for (const NodeId child : comparison.target->children(parent)) {
    if (comparison.match.golden_of_target[child] != kNoNode) continue;
    if (IsApi(*comparison.target, child)) kinds.insert(CallKind(*comparison.target, child));
  }
  for (const NodeId child : comparison.golden->children(golden_parent)) {
    const NodeId partner = comparison.match.target_of_golden[child];
    if (partner != kNoNode && comparison.target->nodes[partner].parent == parent) continue;
    if (IsApi(*comparison.golden, child)) kinds.insert(CallKind(*comparison.golden, child));
  }
  return kinds;
}

}  // namespace

std::vector<bool> DoubtfulPairs(const Comparison& comparison) {
  const Graph& target = *comparison.target;
  std::vector<bool> doubtful(target.nodes.size(), false);
  for (NodeId parent = 0; parent < target.nodes.size(); ++parent) {
    const NodeId golden_parent = comparison.match.golden_of_target[parent];
    if (golden_parent == kNoNode || target.children(parent).empty()) continue;
    const auto kinds = LonelyKinds(comparison, parent, golden_parent);
    if (kinds.empty()) continue;
    for (const NodeId child : target.children(parent)) {
      if (IsApi(target, child)) doubtful[child] = kinds.contains(CallKind(target, child));
    }
  }
  return doubtful;
}

}  // namespace msprobe::compare
