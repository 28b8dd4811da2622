#include "compare/data_flow.h"

#include <cmath>
#include <string>

#include "graph/node_name.h"

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

DataFlow::DataFlow(const Comparison& comparison, const FactTable& facts)
    : comparison_(comparison), facts_(facts), calls_(CountCalls(comparison)) {
  producers_.reserve(facts.uses.size());
  views_.reserve(facts.uses.size());
  for (const auto& [fingerprint, node, error] : facts.differing_parameters) {
    if (fingerprint != 0 && error > facts.nodes[node].tolerance) {
      parameter_owners_[fingerprint] = node;
    }
  }
}

std::span<const TensorUse> DataFlow::Inputs(NodeId id) const {
  const NodeFacts& facts = facts_.nodes[id];
  return {facts_.uses.data() + facts.inputs_begin, facts.inputs_end - facts.inputs_begin};
}

std::span<const TensorUse> DataFlow::Outputs(NodeId id) const {
  const NodeFacts& facts = facts_.nodes[id];
  return {facts_.uses.data() + facts.outputs_begin, facts.outputs_end - facts.outputs_begin};
}

void DataFlow::NoteOutputs(NodeId id) {
  for (const TensorUse& output : Outputs(id)) {
    if (output.fingerprint != 0) {
      NodeId& maker = producers_.try_emplace(output.fingerprint, id).first->second;
      if (!IsInside(maker, id)) maker = id;
    }
    if (output.view_fingerprint != 0) {
      View& view = views_.try_emplace(output.view_fingerprint, View{id, output.norm}).first->second;
      if (!IsInside(view.node, id)) view = {id, output.norm};
    }
  }
}

bool DataFlow::IsInside(NodeId id, NodeId outer) const {
  const graph::Graph& graph = *comparison_.target;
  if (graph.nodes[outer].children_size == 0) return false;
  while (id != kNoNode && id != outer) id = graph.nodes[id].parent;
  return id == outer;
}

NodeId DataFlow::Producer(const TensorUse& use) const {
  if (use.fingerprint != 0) {
    const auto made = producers_.find(use.fingerprint);
    if (made != producers_.end()) return made->second;
    const auto owned = parameter_owners_.find(use.fingerprint);
    if (owned != parameter_owners_.end()) return owned->second;
  }
  if (use.view_fingerprint == 0) return kNoNode;
  const auto viewed = views_.find(use.view_fingerprint);
  if (viewed == views_.end()) return kNoNode;
  constexpr double kSameNorm = 1e-5;
  const double apart = std::fabs(viewed->second.norm - use.norm);
  return apart <= kSameNorm * std::fabs(use.norm) ? viewed->second.node : kNoNode;
}

NodeId DataFlow::ForwardOf(NodeId id) const {
  const graph::Node& node = comparison_.target->nodes[id];
  const graph::NodeName name = graph::ParseNodeName(node.name);
  if (node.direction == dump::Direction::kBackward) {
    return comparison_.target->Find(graph::ForwardOf(node.name, name));
  }
  if (node.direction != dump::Direction::kParametersGrad) return kNoNode;
  std::string forward(node.name.substr(0, name.direction_begin));
  forward.append("forward").append(node.name.substr(name.direction_begin + name.direction_size));
  return comparison_.target->Find(forward);
}

}  // namespace msprobe::compare
