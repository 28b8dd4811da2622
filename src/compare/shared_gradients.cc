#include "compare/shared_gradients.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "graph/node_name.h"

namespace msprobe::compare {

using graph::NodeId;

namespace {

// Many equal gradients are those of many parameters: all of them zeros.
constexpr size_t kMostModules = 64;

/// "parameters_grad.0": the same accumulation in all modules.
std::string_view Accumulation(const graph::Graph& graph, NodeId id) {
  const std::string_view name = graph.nodes[id].name;
  return name.substr(graph::ParseNodeName(name).direction_begin);
}

}  // namespace

SharedGradients::SharedGradients(const Comparison& comparison, const FactTable& facts,
                                 const DataFlow& flow) {
  const graph::Graph& graph = *comparison.target;
  std::vector<NodeId> gradients;
  std::unordered_map<uint64_t, uint32_t> uses;  // of the target's data
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].direction != dump::Direction::kParametersGrad) continue;
    if (facts.nodes[id].error_out == 0) continue;
    gradients.push_back(id);
    for (const TensorUse& output : flow.Outputs(id)) ++uses[output.fingerprint];
  }
  // By target's data, golden's data and accumulation.
  std::map<std::tuple<uint64_t, uint64_t, std::string_view>, std::vector<NodeId>> modules;
  std::vector<std::pair<NodeId, const std::vector<NodeId>*>> differing;
  std::vector<NodeId> differ_alone;
  for (const NodeId id : gradients) {
    const std::span<const TensorUse> outputs = flow.Outputs(id);
    if (std::ranges::none_of(outputs, [&](const auto& use) { return uses[use.fingerprint] > 1; })) {
      continue;
    }
    const std::vector<uint64_t> golden = GoldenOutputs(comparison, id);
    if (golden.size() != outputs.size()) continue;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool differs = outputs[i].error > facts.nodes[id].tolerance;
      if (outputs[i].fingerprint == 0 || golden[i] == 0) {
        if (differs) differ_alone.push_back(id);
        continue;
      }
      std::vector<NodeId>& sharing =
          modules[{outputs[i].fingerprint, golden[i], Accumulation(graph, id)}];
      sharing.push_back(id);
      if (differs) differing.emplace_back(id, &sharing);
    }
  }
  for (const auto& [id, sharing] : differing) {
    if (sharing->size() == 1 || sharing->size() > kMostModules) {
      differ_alone.push_back(id);
      continue;
    }
    for (const NodeId other : *sharing) {
      if (other != id) with_[id].push_back(other);
    }
  }
  for (const NodeId id : differ_alone) with_.erase(id);
}

std::span<const NodeId> SharedGradients::With(NodeId id) const {
  const auto found = with_.find(id);
  return found == with_.end() ? std::span<const NodeId>() : found->second;
}

void SharedGradients::MoveToTheLast(std::vector<NodeId>* order) const {
  if (with_.empty()) return;
  std::vector<size_t> places(order->size());
  for (size_t place = 0; place < order->size(); ++place) places[(*order)[place]] = 2 * place;
  std::vector<size_t> moved = places;
  for (const auto& [id, others] : with_) {
    for (const NodeId other : others) moved[id] = std::max(moved[id], places[other] + 1);
  }
  std::ranges::stable_sort(*order, {}, [&](NodeId id) { return moved[id]; });
}

}  // namespace msprobe::compare
