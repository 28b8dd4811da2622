#include "compare/data_flow.h"

#include <cmath>
namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

size_t CountOutputs(const FactTable& facts) {
  size_t count = 0;
  for (const NodeFacts& node : facts.nodes) count += node.outputs_end - node.outputs_begin;
  return count;
}

}  // namespace

DataFlow::DataFlow(const Comparison& comparison, const FactTable& facts)
    : comparison_(comparison),
      facts_(facts),
      calls_(CountCalls(comparison)),
      producers_(CountOutputs(facts)),
      views_(CountOutputs(facts)) {
  for (const auto& [fingerprint, node, error] : facts.differing_parameters) {
    if (fingerprint != 0 && error > facts.nodes[node].parameter_tolerance) {
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
      NodeId& maker = *producers_.Insert(output.fingerprint, id);
      if (!IsInside(maker, id)) maker = id;
    }
    if (output.view_fingerprint != 0) {
      const View made = {id, static_cast<uint32_t>(&output - facts_.uses.data())};
      View& view = *views_.Insert(output.view_fingerprint, made);
      if (!IsInside(view.node, id)) view = made;
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
    if (const NodeId* made = producers_.Find(use.fingerprint)) return *made;
    const auto owned = parameter_owners_.find(use.fingerprint);
    if (owned != parameter_owners_.end()) return owned->second;
  }
  if (use.view_fingerprint == 0) return kNoNode;
  const View* viewed = views_.Find(use.view_fingerprint);
  if (viewed == nullptr) return kNoNode;
  constexpr double kSameNorm = 1e-5;
  const double apart = std::fabs(facts_.uses[viewed->use].norm - use.norm);
  return apart <= kSameNorm * std::fabs(use.norm) ? viewed->node : kNoNode;
}

}  // namespace msprobe::compare
