#include "report/unit_summary.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "report/left_out.h"

namespace msprobe::report {

namespace {

using compare::NodeStatus;
using graph::NodeId;

SideCounts CountSide(const std::vector<NodeId>& partners,
                     const std::vector<graph::MatchReason>& reasons) {
  SideCounts counts;
  counts.nodes = partners.size() - 1;
  for (size_t id = graph::kRootNode + 1; id < partners.size(); ++id) {
    if (partners[id] != graph::kNoNode) {
      ++counts.matched;
    } else {
      ++counts.unmatched[static_cast<size_t>(reasons[id])];
    }
  }
  return counts;
}

ListedNode Describe(const compare::Comparison& comparison, NodeId id, compare::Role role,
                    std::string_view reason) {
  const compare::NodeResult& result = comparison.result(id);
  ListedNode node;
  node.id = id;
  node.name = comparison.target->nodes[id].name;
  node.index = result.index;
  node.status = result.status;
  node.role = role;
  node.reason = reason.empty() ? comparison.reasons[result.reason] : reason;
  for (size_t i = 0; node.reason.empty() && i < result.values_size; ++i) {
    node.reason = comparison.reasons[comparison.values[result.values_begin + i].reason];
  }
  const std::vector<std::string> lines = graph::StackLines(*comparison.target, id, false);
  if (!lines.empty()) node.source = SourceLine(lines.front());
  return node;
}

size_t BandOf(compare::CompareMode mode, double index) {
  const double width = mode == compare::CompareMode::kRealData ? 0.05 : 0.2;
  return std::min<size_t>(4, static_cast<size_t>(std::max(0.0, index) / width));
}

bool IsSuspect(const compare::Comparison& comparison, NodeId id) {
  const compare::NodeResult& result = comparison.result(id);
  if (result.status == NodeStatus::kError || result.status == NodeStatus::kUnreadable) return true;
  return !std::isnan(result.index) && BandOf(comparison.mode, result.index) == 4;
}

void CountOverflow(const graph::Graph& graph, UnitSummary* summary) {
  for (const graph::Node& node : graph.nodes) {
    ++summary->overflow[static_cast<size_t>(node.overflow)];
  }
}

bool HasLeftOut(const compare::Comparison& comparison, const compare::NodeResult& result) {
  if (IsLeftOut(comparison, result)) return true;
  for (size_t i = 0; i < result.values_size; ++i) {
    if (IsLeftOut(comparison, comparison.values[result.values_begin + i])) return true;
  }
  return false;
}

void CountResults(const compare::Comparison& comparison, UnitSummary* summary) {
  for (NodeId id = graph::kRootNode + 1; id < comparison.nodes.size(); ++id) {
    const compare::NodeResult& result = comparison.nodes[id];
    summary->warnings += result.status == NodeStatus::kWarning;
    summary->errors += result.status == NodeStatus::kError;
    summary->left_out += HasLeftOut(comparison, result);
    if (comparison.match.golden_of_target[id] == graph::kNoNode) continue;
    if (std::isnan(result.index)) {
      ++summary->without_index;
    } else {
      ++summary->bands[BandOf(comparison.mode, result.index)];
    }
  }
}

void ListSuspects(const compare::Comparison& comparison,
                  const compare::DivergenceReport& divergences, UnitSummary* summary) {
  std::vector<const compare::Divergence*> by_node(comparison.nodes.size(), nullptr);
  for (const compare::Divergence& divergence : divergences.divergences) {
    by_node[divergence.node] = &divergence;
  }
  NodeId first_error = graph::kNoNode;
  for (const NodeId id : graph::EntryOrder(*comparison.target)) {
    // A collection stands for no record: it only repeats its worst child.
    if (id == graph::kRootNode ||
        comparison.target->nodes[id].kind == graph::NodeKind::kApiCollection) {
      continue;
    }
    const compare::Divergence* divergence = by_node[id];
    if (divergences.culprits.empty() && !summary->first_difference && divergence != nullptr &&
        divergence->culprit == graph::kNoNode &&
        comparison.result(id).status != NodeStatus::kUnreadable) {
      summary->first_difference = Describe(comparison, id, divergence->role, divergence->reason);
    }
    if (first_error == graph::kNoNode && comparison.result(id).status == NodeStatus::kError) {
      first_error = id;
    }
    if (!IsSuspect(comparison, id)) continue;
    if (++summary->suspect_count > kListedNodes) continue;
    const compare::Role role = divergence ? divergence->role : compare::Role::kNone;
    summary->suspects.push_back(Describe(comparison, id, role, {}));
  }
  if (divergences.culprits.empty() && !summary->first_difference && first_error != graph::kNoNode) {
    summary->first_difference = Describe(comparison, first_error, compare::Role::kNone, {});
    summary->first_difference->by_status = true;
  }
  for (const compare::Divergence& divergence : divergences.divergences) {
    const NodeStatus status = comparison.result(divergence.node).status;
    summary->divergence_count += status != NodeStatus::kUnreadable;
    const bool collective = divergence.role == compare::Role::kCollective;
    if (!collective || summary->collectives.size() == kListedNodes) continue;
    summary->collectives.push_back(
        Describe(comparison, divergence.node, divergence.role, divergence.reason));
  }
  summary->culprit_count = divergences.culprits.size();
  for (const compare::Divergence* culprit : CulpritOrder(divergences, *summary)) {
    if (summary->culprits.size() == kListedNodes) break;
    summary->culprits.push_back(Describe(comparison, culprit->node, compare::Role::kCulprit,
                                         ReasonText(*culprit, *summary)));
    summary->culprits.back().consequence = MayBeConsequence(*culprit, *summary);
  }
}

void Add(const SideCounts& from, SideCounts* to) {
  to->nodes += from.nodes;
  to->matched += from.matched;
  for (size_t i = 0; i < kReasonCount; ++i) to->unmatched[i] += from.unmatched[i];
}

}  // namespace

bool MayBeConsequence(const compare::Divergence& divergence, const UnitSummary& summary) {
  return divergence.moved_parameters ||
         (divergence.by_parameters && summary.diverged_step.has_value());
}

std::string ReasonText(const compare::Divergence& divergence, const UnitSummary& summary) {
  std::string reason(divergence.reason);
  if (divergence.by_parameters && summary.diverged_step && !divergence.moved_parameters) {
    reason += "; step" + std::to_string(*summary.diverged_step) +
              " differs already: most likely a consequence";
  }
  return reason;
}

std::vector<const compare::Divergence*> CulpritOrder(const compare::DivergenceReport& divergences,
                                                     const UnitSummary& summary) {
  std::unordered_map<NodeId, const compare::Divergence*> by_node;
  for (const compare::Divergence& divergence : divergences.divergences) {
    if (divergence.role == compare::Role::kCulprit) by_node.emplace(divergence.node, &divergence);
  }
  std::vector<const compare::Divergence*> order;
  for (const NodeId id : divergences.culprits) {
    const auto found = by_node.find(id);
    if (found != by_node.end()) order.push_back(found->second);
  }
  std::ranges::stable_partition(order, [&](const compare::Divergence* culprit) {
    return !MayBeConsequence(*culprit, summary);
  });
  return order;
}

void AddCounts(const UnitSummary& unit, UnitSummary* total) {
  total->compared |= unit.compared;
  Add(unit.target, &total->target);
  Add(unit.golden, &total->golden);
  total->lowest_confidence = std::min(total->lowest_confidence, unit.lowest_confidence);
  total->mismatched += unit.mismatched;
  for (size_t i = 0; i < unit.bands.size(); ++i) total->bands[i] += unit.bands[i];
  for (size_t i = 0; i < kOverflowLevels; ++i) total->overflow[i] += unit.overflow[i];
  total->without_index += unit.without_index;
  total->left_out += unit.left_out;
  total->warnings += unit.warnings;
  total->errors += unit.errors;
  total->unreadable_tensors += unit.unreadable_tensors;
  total->unreadable_records += unit.unreadable_records;
  total->suspect_count += unit.suspect_count;
  total->divergence_count += unit.divergence_count;
  total->culprit_count += unit.culprit_count;
}

void SummarizeComparison(const compare::Comparison& comparison,
                         const compare::DivergenceReport& divergences, UnitSummary* summary) {
  const graph::Match& match = comparison.match;
  summary->compared = true;
  summary->mode = comparison.mode;
  summary->target = CountSide(match.golden_of_target, match.target_reason);
  summary->golden = CountSide(match.target_of_golden, match.golden_reason);
  for (NodeId id = 1; id < match.confidence.size(); ++id) {
    if (match.golden_of_target[id] == graph::kNoNode) continue;
    summary->lowest_confidence = std::min<double>(summary->lowest_confidence, match.confidence[id]);
  }
  summary->mismatched =
      static_cast<uint64_t>(std::count(match.mismatched.begin(), match.mismatched.end(), true));
  summary->unreadable_tensors = comparison.unreadable_tensors;
  CountOverflow(*comparison.target, summary);
  CountResults(comparison, summary);
  ListSuspects(comparison, divergences, summary);
}

void SummarizeGraph(const graph::Graph& graph, UnitSummary* summary) {
  summary->compared = false;
  summary->target.nodes = graph.nodes.size() - 1;
  CountOverflow(graph, summary);
}

std::string SourceLine(std::string_view frame) {
  constexpr std::string_view kFile = "File ";
  constexpr std::string_view kLine = ", line ";
  const size_t line = frame.find(kLine);
  if (!frame.starts_with(kFile) || line == std::string_view::npos) {
    return std::string(frame.substr(0, frame.find('\n')));
  }
  std::string text(frame.substr(kFile.size(), line - kFile.size()));
  const std::string_view rest = frame.substr(line + kLine.size());
  text.append(":").append(rest.substr(0, rest.find(',')));
  const size_t code = rest.find('\n');
  if (code != std::string_view::npos) {
    const size_t begin = rest.find_first_not_of(" \n", code);
    if (begin != std::string_view::npos) {
      const size_t end = rest.find('\n', begin);
      text.append("  ").append(rest.substr(begin, end - begin));
    }
  }
  return text;
}

}  // namespace msprobe::report
