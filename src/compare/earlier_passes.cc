#include "compare/earlier_passes.h"

#include <string>

#include "graph/node_name.h"

namespace msprobe::compare {

using dump::Direction;
using graph::kNoNode;
using graph::NodeId;

EarlierPasses::EarlierPasses(const Comparison& comparison, const FactTable& facts,
                             const DataFlow& flow, const std::vector<NodeState>& states)
    : graph_(*comparison.target),
      facts_(facts),
      flow_(flow),
      states_(states),
      shared_(comparison, facts, flow) {
  for (NodeId id = 0; id < states_.size(); ++id) Note(id);
}

bool EarlierPasses::HasDiverged(NodeId id) const {
  return id != kNoNode && (states_[id].cause != kNoNode || facts_.nodes[id].differs());
}

std::string_view EarlierPasses::ModuleOf(NodeId id) const {
  const std::string_view name = graph_.nodes[id].name;
  return name.substr(0, graph::ParseNodeName(name).direction_begin);
}

void EarlierPasses::Note(NodeId id) {
  const graph::Node& node = graph_.nodes[id];
  if (node.kind != graph::NodeKind::kModule || !HasDiverged(id)) return;
  const bool is_forward = node.direction == Direction::kForward;
  // A gradient of weights may be wrong in the same call whose gradient of inputs is.
  const bool is_backward = node.direction == Direction::kBackward && facts_.nodes[id].inputs_differ;
  if (!is_forward && !is_backward) return;
  Passes& passes = passes_[ModuleOf(id)];
  NodeId& first = is_forward ? passes.forward : passes.backward;
  if (first == kNoNode) first = id;
}

NodeId EarlierPasses::Diverged(NodeId id) const {
  const Direction direction = graph_.nodes[id].direction;
  if (direction == Direction::kBackward) {
    const NodeId forward = flow_.ForwardOf(id);
    return HasDiverged(forward) ? forward : kNoNode;
  }
  if (direction != Direction::kParametersGrad) return kNoNode;
  NodeId pass = DivergedPassOf(id);
  for (const NodeId other : shared_.With(id)) {
    if (pass == kNoNode) pass = DivergedPassOf(other);
  }
  return pass;
}

NodeId EarlierPasses::DivergedPassOf(NodeId gradient) const {
  const auto found = passes_.find(ModuleOf(gradient));
  if (found == passes_.end()) return kNoNode;
  return found->second.forward != kNoNode ? found->second.forward : found->second.backward;
}

NodeId EarlierPasses::WithGoldensParameters(NodeId id) const {
  const NodeId first = graph_.Find(std::string(ModuleOf(id)) + "forward.0");
  if (first == kNoNode || first == id) return kNoNode;
  const NodeFacts& facts = facts_.nodes[first];
  return facts.compared && !facts.parameters_differ ? first : kNoNode;
}

}  // namespace msprobe::compare
