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

bool HasLostRecord(const Graph& graph, NodeId node) {
  return graph.dump->is_cut_off() && node != kNoNode && graph.nodes[node].entry == dump::kNoEntry;
}

}  // namespace

std::string UnmatchedText(MatchReason reason, const Graph& graph, const Graph& other, NodeId node) {
  if (reason == MatchReason::kOtherCount) {
    if (HasLostRecord(graph, node)) return "its record is lost: dump.json is cut off";
    if (HasLostRecord(other, other.Find(graph.nodes[node].name))) {
      return "the other side's record is lost: dump.json is cut off";
    }
  }
  if (reason == MatchReason::kNoSuchName && other.dump->is_cut_off()) {
    return "no such name: the other side's dump.json is cut off";
  }
  return std::string(MatchReasonText(reason));
}

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
  return is_target ? UnmatchedText(reason, target, golden, node)
                   : UnmatchedText(reason, golden, target, node);
}

}  // namespace msprobe::graph
