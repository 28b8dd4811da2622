#include "compare/doubtful_pairs.h"

#include <algorithm>
#include <string>
#include <unordered_map>

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

struct Kind {
  uint32_t target = 0;
  uint32_t golden = 0;
  bool lonely = false;
};
using Kinds = std::unordered_map<std::string, Kind>;

/// All is paired in order: nothing to count.
bool AllPaired(const Comparison& comparison, NodeId parent, NodeId golden_parent) {
  const auto children = comparison.target->children(parent);
  const auto golden = comparison.golden->children(golden_parent);
  if (children.size() != golden.size()) return false;
  return std::all_of(children.begin(), children.end(), [&](NodeId child) {
    const NodeId partner = comparison.match.golden_of_target[child];
    return partner != kNoNode && comparison.golden->nodes[partner].parent == golden_parent;
  });
}

Kinds CountKinds(const Comparison& comparison, NodeId parent, NodeId golden_parent) {
  Kinds kinds;
  for (const NodeId child : comparison.target->children(parent)) {
    if (!IsApi(*comparison.target, child)) continue;
    Kind& kind = kinds[CallKind(*comparison.target, child)];
    ++kind.target;
    kind.lonely |= comparison.match.golden_of_target[child] == kNoNode;
  }
  for (const NodeId child : comparison.golden->children(golden_parent)) {
    if (!IsApi(*comparison.golden, child)) continue;
    Kind& kind = kinds[CallKind(*comparison.golden, child)];
    ++kind.golden;
    const NodeId partner = comparison.match.target_of_golden[child];
    kind.lonely |= partner == kNoNode || comparison.target->nodes[partner].parent != parent;
  }
  return kinds;
}

}  // namespace

std::vector<CallCounts> CountCalls(const Comparison& comparison) {
  const Graph& target = *comparison.target;
  std::vector<CallCounts> counts(target.nodes.size(), {false, true, false});
  for (NodeId parent = 0; parent < target.nodes.size(); ++parent) {
    const NodeId golden_parent = comparison.match.golden_of_target[parent];
    if (golden_parent == kNoNode || target.children(parent).empty()) continue;
    const bool all = AllPaired(comparison, parent, golden_parent);
    const Kinds kinds = all ? Kinds() : CountKinds(comparison, parent, golden_parent);
    for (const NodeId child : target.children(parent)) {
      if (!IsApi(target, child)) continue;
      counts[child] = {false, false, true};
      if (all) continue;
      const Kind& kind = kinds.at(CallKind(target, child));
      counts[child] = {kind.lonely, kind.golden == 0, kind.golden == kind.target};
    }
  }
  return counts;
}

}  // namespace msprobe::compare
