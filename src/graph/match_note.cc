#include <string>

#include "base/numbers.h"
#include "graph/match.h"
#include "graph/node_name.h"

namespace msprobe::graph {
namespace {

std::string_view ShortName(const Graph& graph, NodeId id) {
  const NodeName name = ParseNodeName(graph.nodes[id].name);
  return name.path.empty() ? graph.nodes[id].name : name.path.substr(name.path.rfind('.') + 1);
}

std::string ListNames(const Graph& graph, const std::vector<NodeId>& ids) {
  std::string text;
  for (const NodeId id : ids) {
    text.append(text.empty() ? "" : ", ").append(ShortName(graph, id));
  }
  return text;
}

}  // namespace

std::string MatchNote(const Match& match, const Graph& target, const Graph& golden, NodeId node,
                      bool is_target) {
  const MatchReason reason = is_target ? match.target_reason[node] : match.golden_reason[node];
  if (reason == MatchReason::kFusedProjection) {
    const uint32_t number = is_target ? match.target_group[node] : match.golden_group[node];
    if (number != kNoGroup) {
      const FusedGroup& group = match.groups[number];
      return std::string(MatchReasonText(reason)) + ": " + ListNames(target, group.targets) +
             " = " + ListNames(golden, group.goldens);
    }
  }
  if (is_target && reason == MatchReason::kNone && !match.confidence.empty()) {
    const auto confidence = static_cast<double>(match.confidence[node]);
    return "matched automatically, confidence " +
           base::FormatNumber(confidence, std::chars_format::fixed, 2);
  }
  return std::string(MatchReasonText(reason));
}

}  // namespace msprobe::graph
