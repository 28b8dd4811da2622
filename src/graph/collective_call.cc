#include "graph/collective_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace msprobe::graph {
namespace {

using dump::Value;

/// Where an operation names the rank that matters; all others are all-to-all.
struct Operation {
  std::string_view api;
  CollectivePattern pattern;
  std::string_view keyword;   ///< "src" or "dst"
  std::string_view position;  ///< the same as a positional argument
  int64_t default_rank;       ///< -1: none
};
constexpr auto kP2p = CollectivePattern::kPointToPoint;
constexpr std::array kOperations = {
    Operation{"broadcast", CollectivePattern::kOneToAll, "src", "input.1", -1},
    Operation{"broadcast_object_list", CollectivePattern::kOneToAll, "src", "input.1", 0},
    Operation{"scatter", CollectivePattern::kOneToAll, "src", "input.2", 0},
    Operation{"scatter_object_list", CollectivePattern::kOneToAll, "src", "input.2", 0},
    Operation{"reduce", CollectivePattern::kAllToOne, "dst", "input.1", -1},
    Operation{"gather", CollectivePattern::kAllToOne, "dst", "input.2", 0},
    Operation{"gather_single", CollectivePattern::kAllToOne, "dst", "input.2", 0},
    Operation{"gather_object", CollectivePattern::kAllToOne, "dst", "input.2", 0},
    Operation{"send", kP2p, "dst", "input.1", -1},
    Operation{"isend", kP2p, "dst", "input.1", -1},
    Operation{"send_object_list", kP2p, "dst", "input.1", -1},
    Operation{"recv", kP2p, "src", "input.1", -1},
    Operation{"irecv", kP2p, "src", "input.1", -1},
    Operation{"recv_object_list", kP2p, "src", "input.1", -1},
};
constexpr std::string_view kBatch = "batch_isend_irecv";

std::optional<int64_t> ParseRank(std::string_view text) {
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end == text.data() || rank < 0) return std::nullopt;
  return rank;
}

std::string_view LastPart(std::string_view key) { return key.substr(key.rfind('.') + 1); }

std::string_view WithoutLastPart(std::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

/// What stands behind `'name': ` in the text of a Python dict.
std::string_view Member(std::string_view dict, std::string_view name) {
  const std::string mark = "'" + std::string(name) + "': ";
  const size_t at = dict.find(mark);
  return at == std::string_view::npos ? std::string_view() : dict.substr(at + mark.size());
}

std::vector<int64_t> ParseRanks(std::string_view list) {
  std::vector<int64_t> ranks;
  if (!list.starts_with('[')) return ranks;
  while (!list.empty() && !list.starts_with(']')) {
    list.remove_prefix(1);
    while (list.starts_with(' ')) list.remove_prefix(1);
    const auto rank = ParseRank(list);
    if (!rank) return {};
    ranks.push_back(*rank);
    list.remove_prefix(std::min(list.size(), list.find_first_of(",]")));
  }
  return ranks;
}

/// {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "…"}, or the same two in a
/// "value". The ranks are the group's identity where they are known: an id may differ per rank.
/// Returns them in the group's order.
std::vector<int64_t> ReadGroup(const dump::Record& record, CollectiveCall* call) {
  std::string_view ranks;
  std::string_view id;
  for (const Value& value : record.values) {
    const std::string_view key = LastPart(value.key);
    const bool is_scalar = value.kind == dump::ValueKind::kScalar;
    if (value.type.ends_with("ProcessGroup") && is_scalar) {
      ranks = Member(value.value_text, "group_ranks");
      id = value.value_text;
    } else if (key == "group_ranks") {
      ranks = value.value_text;
    } else if (key == "group_id" || (key == "group" && is_scalar)) {  // MindSpore names its groups
      id = value.value_text;
    }
  }
  std::vector<int64_t> in_order = ParseRanks(ranks);
  call->ranks = in_order;
  std::sort(call->ranks.begin(), call->ranks.end());
  call->ranks.erase(std::unique(call->ranks.begin(), call->ranks.end()), call->ranks.end());
  for (const int64_t rank : call->ranks) call->group += std::to_string(rank) + ",";
  if (call->ranks.empty()) call->group = id;
  return in_order;
}

/// Each P2POp of a batch: {"op": "isend", "peer": 1, …} below one key, or in a "value".
void ReadBatch(const dump::Record& record, CollectiveCall* call) {
  for (const Value& value : record.values) {
    std::string_view operation;
    std::string_view peer;
    if (value.type.ends_with("P2POp") && value.kind == dump::ValueKind::kScalar) {
      operation = Member(value.value_text, "op");
      peer = Member(value.value_text, "peer");
      if (operation.starts_with('\'')) operation.remove_prefix(1);
    } else if (LastPart(value.key) == "op") {
      operation = value.value_text;
      const auto same_call =
          std::find_if(record.values.begin(), record.values.end(), [&](const Value& other) {
            return LastPart(other.key) == "peer" &&
                   WithoutLastPart(other.key) == WithoutLastPart(value.key);
          });
      if (same_call != record.values.end()) peer = same_call->value_text;
    }
    const bool is_send = operation.starts_with("isend") || operation.starts_with("send");
    const bool is_receive = operation.starts_with("irecv") || operation.starts_with("recv");
    if (is_send || is_receive) call->transfers.push_back({ParseRank(peer).value_or(-1), is_send});
  }
}

/// "group_src" and "group_dst" count inside the group, whose ranks are `members`.
int64_t RankArgument(const dump::Record& record, const Operation& operation,
                     const std::vector<int64_t>& members) {
  constexpr std::string_view kInGroup = "group_";
  for (const Value& value : record.values) {
    if (value.section != dump::Section::kInput || value.kind != dump::ValueKind::kScalar) continue;
    std::string_view key = LastPart(value.key);
    const bool in_group = key.starts_with(kInGroup);
    if (in_group) key.remove_prefix(kInGroup.size());
    if (key != operation.keyword && value.key != operation.position) continue;
    const auto rank = ParseRank(value.value_text);
    if (!rank) continue;
    if (!in_group || members.empty()) return *rank;
    return *rank < static_cast<int64_t>(members.size()) ? members[*rank] : -1;
  }
  return operation.default_rank;
}

}  // namespace

bool IsCollective(const NodeName& name) {
  return name.kind == NodeKind::kApi && name.direction == dump::Direction::kForward &&
         (name.prefix == "Distributed" || name.prefix == "MintDistributed");
}

CollectiveCall ReadCollectiveCall(const NodeName& name, const dump::Record& record) {
  CollectiveCall call;
  const std::vector<int64_t> members = ReadGroup(record, &call);
  if (name.api == kBatch) {
    call.pattern = kP2p;
    ReadBatch(record, &call);
    return call;
  }
  const auto* operation =
      std::find_if(kOperations.begin(), kOperations.end(),
                   [&](const Operation& known) { return known.api == name.api; });
  if (operation == kOperations.end()) return call;
  call.pattern = operation->pattern;
  const int64_t rank = RankArgument(record, *operation, members);
  if (call.pattern == kP2p) {
    call.transfers.push_back({rank, operation->keyword == "dst"});
  } else {
    call.root = rank;
  }
  return call;
}

}  // namespace msprobe::graph
