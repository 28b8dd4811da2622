#pragma once

#include <vector>

#include "graph/node_likeness.h"
#include "graph/pairing.h"

namespace msprobe::graph {

/// One of the two graphs and what is known of its nodes.
struct MatchSide {
  const Graph& graph;
  std::vector<NodeTraits> traits;
  std::vector<uint32_t>& group;
  std::vector<MatchReason>& reason;
  const std::vector<NodeId>& partner;

  bool IsForwardModule(NodeId id) const {
    const Node& node = graph.nodes[id];
    return node.kind == NodeKind::kModule && node.direction == dump::Direction::kForward;
  }
  std::vector<NodeId> ModulesBelow(NodeId id) const {
    std::vector<NodeId> modules;
    for (const NodeId child : graph.children(id)) {
      if (IsForwardModule(child)) modules.push_back(child);
    }
    return modules;
  }
  NodeId OnlyModuleBelow(NodeId id) const {
    NodeId only = kNoNode;
    for (const NodeId child : graph.children(id)) {
      if (!IsForwardModule(child)) continue;
      if (only != kNoNode) return kNoNode;
      only = child;
    }
    return only;
  }
  /// What a wrapper wraps, the node itself if it is none.
  NodeId Unwrap(NodeId id) const {
    while (traits[id].is_wrapper) {
      const NodeId inner = OnlyModuleBelow(id);
      if (inner == kNoNode) break;
      reason[id] = MatchReason::kWrapper;
      id = inner;
    }
    return id;
  }
};

/// Automatic matching while it goes on.
struct AutoMatchState {
  AutoMatchState(const MatchOptions& match_options, Pairing* all_pairs)
      : options(match_options), pairing(*all_pairs), match(all_pairs->match()) {}

  void Link(NodeId target_node, NodeId golden_node, float confidence) {
    pairing.Link(target_node, golden_node);
    match.confidence[target_node] = confidence;
    linked.push_back(target_node);
  }
  /// Both parents hold the same weights: then equal things have the same weights in front of them.
  bool IsAnchored(NodeId target_parent, NodeId golden_parent) const {
    const uint64_t weights = target.traits[target_parent].weights;
    return weights > 0 && weights == golden.traits[golden_parent].weights;
  }
  bool cancelled() const { return options.cancel != nullptr && options.cancel->cancelled(); }

  const MatchOptions& options;
  Pairing& pairing;
  Match& match;
  MatchSide target{
      pairing.target(), {}, match.target_group, match.target_reason, match.golden_of_target};
  MatchSide golden{
      pairing.golden(), {}, match.golden_group, match.golden_reason, match.target_of_golden};
  std::vector<NodeId> linked;  ///< targets, in the order in which they found a partner
  std::vector<NodeId> named;   ///< of these: by their names, whatever their types and shapes
};

/// What a likeness counts in an alignment.
int32_t WeightOf(float likeness);

/// The APIs inside two modules that are paired, between the modules that are paired already.
void MatchApis(NodeId target_module, NodeId golden_module, AutoMatchState* state);

/// From the forward modules that are linked to all that hangs on them: what only has its name,
/// APIs, backward, gradients of parameters, collections; then reasons for what is left.
void MatchWhatFollows(AutoMatchState* state);

}  // namespace msprobe::graph
