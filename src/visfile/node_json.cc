#include "visfile/node_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/json/json_escape.h"
#include "visfile/value_json.h"

namespace msprobe::visfile {

namespace {

using graph::kNoNode;
using graph::NodeId;

/// The plugin's filter looks for [low, high): exactly 1 would be found by none.
constexpr double kWorstInVis = 0.999999;

/// With all ancestors of every node the file of a chain of calls would grow by its square.
constexpr size_t kLongestLink = 1024;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double StatusIndex(compare::NodeStatus status) {
  switch (status) {
    case compare::NodeStatus::kUnmatched: return kNothing;
    case compare::NodeStatus::kPass: return 0;
    case compare::NodeStatus::kWarning: return 0.5;
    default: return 1;  // unreadable too: never "pass"
  }
}

/// From the root to `id`, each with a comma behind it.
void RenderAncestors(const graph::Graph& graph, NodeId id, std::string* out) {
  std::vector<NodeId> chain;
  for (; id != kNoNode && chain.size() + 1 < kLongestLink; id = graph.nodes[id].parent) {
    chain.push_back(id);
  }
  out->clear();
  for (size_t i = chain.size(); i-- > 0;) {
    formats::AppendJsonString(graph.nodes[chain[i]].name, out);
    out->push_back(',');
  }
}

}  // namespace

SideText::SideText(const VisContent& content, Side side, Dialect dialect)
    : side_(side),
      dialect_(dialect),
      complete_stack_(content.complete_stack),
      diagnostics_(content.diagnostics),
      comparison_(content.comparison) {
  switch (side) {
    case Side::kTarget:
      graph_ = comparison_->target.get();
      other_ = comparison_->golden.get();
      break;
    case Side::kGolden:
      graph_ = comparison_->golden.get();
      other_ = comparison_->target.get();
      break;
    case Side::kSingle:
      graph_ = content.single;
      comparison_ = nullptr;
      break;
  }
  if (side == Side::kTarget && content.divergences != nullptr) {
    divergences_.resize(graph_->nodes.size());
    for (const compare::Divergence& divergence : content.divergences->divergences) {
      if (divergence.node < divergences_.size()) divergences_[divergence.node] = &divergence;
    }
  }
}

void SideText::Load(NodeId node, NodeScratch* scratch) const {
  const dump::EntryId entry = graph_->nodes[node].entry;
  scratch->has_record = false;
  scratch->record.parse_numbers = false;
  scratch->escaped_name.clear();
  formats::AppendJsonEscaped(graph_->nodes[node].name, &scratch->escaped_name);
  if (entry == dump::kNoEntry) return;
  Status status = graph_->dump->Read(entry, &scratch->record);
  scratch->has_record = status.ok();
  // A damaged record: the node stays, without values. A comparison has reported it.
  if (status.ok() || diagnostics_ == nullptr || comparison_ != nullptr) return;
  diagnostics_->Add(base::DiagnosticKind::kUnreadableRecord, std::move(status));
}

void SideText::AppendInputs(NodeId node, NodeScratch* scratch, std::string* out) const {
  AppendSection(node, false, scratch, out);
}

void SideText::AppendOutputs(NodeId node, NodeScratch* scratch, std::string* out) const {
  AppendSection(node, true, scratch, out);
}

void SideText::AppendSection(NodeId node, bool outputs, NodeScratch* scratch,
                             std::string* out) const {
  out->push_back('{');
  if (scratch->has_record) {
    const dump::Record& record = scratch->record;
    const compare::NodeResult* result =
        side_ == Side::kTarget ? &comparison_->nodes[node] : nullptr;
    const bool all_inputs = record.direction == dump::Direction::kParametersGrad;
    for (size_t i = 0; i < record.values.size(); ++i) {
      const dump::Value& value = record.values[i];
      if ((value.section == dump::Section::kOutput && !all_inputs) != outputs) continue;
      if (out->back() != '{') out->push_back(',');
      out->push_back('"');
      out->append(scratch->escaped_name);
      out->push_back('.');
      formats::AppendJsonEscaped(value.key, out);
      out->append("\":");
      const compare::ValueResult* value_result =
          result != nullptr && i < result->values_size
              ? &comparison_->values[result->values_begin + i]
              : nullptr;
      AppendValue(value, comparison_, value_result, dialect_, &scratch->text, out);
    }
  }
  out->push_back('}');
}

void SideText::AppendUlps(NodeId node, const NodeScratch& scratch, std::string* out) const {
  if (side_ != Side::kTarget || !scratch.has_record) return;
  const compare::NodeResult& result = comparison_->nodes[node];
  const size_t count = std::min<size_t>(result.values_size, scratch.record.values.size());
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    const stats::UlpCounts* ulps =
        comparison_->UlpsOf(comparison_->values[result.values_begin + i]);
    if (ulps == nullptr) continue;
    out->append(any ? ",\"" : "{\"");
    any = true;
    formats::AppendJsonEscaped(scratch.record.values[i].key, out);
    out->append("\":\"");
    compare::AppendUlps(*ulps, out);
    out->push_back('"');
  }
  if (any) out->push_back('}');
}

void SideText::AppendChildren(NodeId node, std::string* out) const {
  out->push_back('[');
  for (const NodeId child : graph_->children(node)) {
    if (out->back() != '[') out->push_back(',');
    formats::AppendJsonString(graph_->nodes[child].name, out);
  }
  out->push_back(']');
}

NodeId SideText::Partner(NodeId node) const {
  switch (side_) {
    case Side::kTarget: return comparison_->match.golden_of_target[node];
    case Side::kGolden: return comparison_->match.target_of_golden[node];
    default: return kNoNode;
  }
}

void SideText::AppendMatchedLink(NodeId node, NodeScratch* scratch, std::string* out) const {
  const NodeId partner = Partner(node);
  out->push_back('[');
  if (partner != kNoNode) {
    const NodeId parent = other_->nodes[partner].parent;
    if (scratch->link_graph != other_ || scratch->link_parent != parent) {
      scratch->link_graph = other_;
      scratch->link_parent = parent;
      RenderAncestors(*other_, parent, &scratch->link);
    }
    out->append(scratch->link);
    formats::AppendJsonString(other_->nodes[partner].name, out);
  }
  out->push_back(']');
}

void SideText::AppendStack(NodeId node, std::string* out) const {
  out->push_back('[');
  for (const std::string& line : graph::StackLines(*graph_, node, complete_stack_)) {
    if (out->back() != '[') out->push_back(',');
    formats::AppendJsonString(line, out);
  }
  out->push_back(']');
}

std::span<const graph::DistributedPeer> SideText::Peers(NodeId node) const {
  return graph_->peers(node);
}

void SideText::AppendDistributed(NodeId node, std::string* out) const {
  const std::span<const graph::DistributedPeer> peers = Peers(node);
  out->push_back('{');
  if (!peers.empty()) {
    const bool one_way = std::ranges::all_of(peers, [&](const graph::DistributedPeer& peer) {
      return peer.communication == peers[0].communication;
    });
    out->append(R"("communications_type":)");
    formats::AppendJsonString(
        graph::CommunicationName(one_way ? peers[0].communication
                                         : graph::Communication::kSendReceive),
        out);
    out->append(R"(,"nodes_info":{)");
    const graph::DistributedPeer* last = nullptr;
    for (const graph::DistributedPeer& peer : peers) {
      // The format has room for one node a rank.
      if (last != nullptr && last->peer_rank == peer.peer_rank) continue;
      if (last != nullptr) out->push_back(',');
      last = &peer;
      out->push_back('"');
      out->append(std::to_string(peer.peer_rank));
      // The peer's index is in another file: "Nan" is the plugin's word for an unknown one.
      out->append(R"(":["Nan",)");
      formats::AppendJsonString(peer.peer_name, out);
      out->push_back(']');
    }
    out->push_back('}');
  }
  out->push_back('}');
}

double SideText::PluginIndex(NodeId node) const {
  if (side_ != Side::kTarget || Partner(node) == kNoNode) return kNothing;
  const compare::NodeResult& result = comparison_->nodes[node];
  if (dialect_ == Dialect::kDb) return StatusIndex(result.status);
  if (std::isnan(result.index)) return kNothing;
  const bool inverted = comparison_->mode == compare::CompareMode::kMd5;
  return std::clamp(inverted ? 1 - result.index : result.index, 0.0, kWorstInVis);
}

std::string SideText::ReasonText(NodeId node) const {
  const graph::Match& match = comparison_->match;
  const bool is_target = side_ == Side::kTarget;
  std::string reason;
  if (is_target) {
    const uint32_t id = comparison_->nodes[node].reason;
    if (id < comparison_->reasons.size()) reason = comparison_->reasons[id];
    if (reason.empty() && !divergences_.empty() && divergences_[node] != nullptr) {
      reason = divergences_[node]->reason;
    }
  }
  const bool automatic = is_target && !match.confidence.empty() && Partner(node) != kNoNode;
  if (!reason.empty() && !automatic) return reason;
  std::string note =
      graph::MatchNote(match, *comparison_->target, *comparison_->golden, node, is_target);
  return reason.empty() ? note : reason + "; " + note;
}

NodeVerdict SideText::Verdict(NodeId node) const {
  NodeVerdict verdict{kNothing, kNothing, {}, {}, {}};
  if (side_ == Side::kSingle) return verdict;
  if (side_ == Side::kGolden) {
    if (Partner(node) != kNoNode) return verdict;
    verdict.status = compare::NodeStatusName(compare::NodeStatus::kUnmatched);
    verdict.reason = ReasonText(node);
    return verdict;
  }
  const compare::NodeResult& result = comparison_->nodes[node];
  verdict.index = result.index;
  verdict.worst_below = result.worst_below;
  verdict.status = compare::NodeStatusName(result.status);
  verdict.reason = ReasonText(node);
  if (!divergences_.empty() && divergences_[node] != nullptr &&
      divergences_[node]->role != compare::Role::kNone) {
    verdict.role = compare::RoleName(divergences_[node]->role);
  }
  return verdict;
}

std::string_view OverflowText(graph::OverflowLevel level) {
  switch (level) {
    case graph::OverflowLevel::kMedium: return "medium";
    case graph::OverflowLevel::kHigh: return "high";
    case graph::OverflowLevel::kCritical: return "critical";
    default: return {};
  }
}

}  // namespace msprobe::visfile
