#include "compare/divergence_report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

/// Follows the causes to the node that is its own. Ids on the way get the answer too.
NodeId OriginOf(NodeId id, std::vector<NodeState>* states) {
  std::vector<NodeId> way;
  NodeId at = id;
  while (at != kNoNode && (*states)[at].cause != at && way.size() < states->size()) {
    way.push_back(at);
    at = std::exchange((*states)[at].cause, kNoNode);
  }
  for (const NodeId passed : way) (*states)[passed].cause = at;
  return at;
}

/// Gradients of parameters come from what the forward took, which may not be recorded.
bool IsByParameters(const graph::Graph& graph, NodeId id, const NodeFacts& facts) {
  if (facts.parameters_differ) return true;
  const std::string_view name = graph.nodes[id].name;
  const size_t module = name.find(".parameters_grad");
  if (module == std::string_view::npos || facts.forward != kNoNode) return false;
  // Names without a number of the call stand for all calls.
  return graph.Find(std::string(name.substr(0, module)) + ".forward.0") == kNoNode;
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kNone: return "none";
    case Role::kCulprit: return "culprit";
    case Role::kVictim: return "victim";
    case Role::kAmplifier: return "amplifier";
    case Role::kCollective: return "collective";
    case Role::kUndecidable: return "undecidable";
  }
  return "";
}

DivergenceReport ReportOf(const graph::Graph& graph, const std::vector<NodeId>& order,
                          const FactTable& facts_of, std::shared_ptr<const ReasonTable> reasons,
                          std::vector<NodeState>* states) {
  DivergenceReport report;
  report.divergences.reserve(static_cast<size_t>(std::ranges::count_if(
      *states, [](const NodeState& state) { return state.role != Role::kNone; })));
  for (const NodeId id : order) {
    const Role role = (*states)[id].role;
    const NodeFacts& facts = facts_of.nodes[id];
    if (facts.is_collective) {
      const bool known = facts.compared && !facts.inputs_unknown;
      report.collectives.push_back({id, known, facts.error_in});
    }
    if (role == Role::kNone) continue;
    const NodeId origin = OriginOf(id, states);
    if (role == Role::kCulprit) report.culprits.push_back(id);
    report.divergences.push_back({id, role, origin == id ? kNoNode : origin,
                                  std::min(1.0, facts.error_in), std::min(1.0, facts.error_out),
                                  reasons->text((*states)[id].reason),
                                  role == Role::kCulprit && IsByParameters(graph, id, facts),
                                  role == Role::kCulprit && (*states)[id].moved_parameters});
  }
  report.reasons = std::move(reasons);
  return report;
}

}  // namespace msprobe::compare
