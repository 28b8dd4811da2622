#include "visfile/vis_node_scan.h"

#include <charconv>

#include "base/numbers.h"

namespace msprobe::visfile {

namespace {

using Step = formats::JsonScanner::Step;

std::string_view Unquoted(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"') return value.substr(1, value.size() - 2);
  return {};
}

std::optional<float> Number(std::string_view value) {
  const std::optional<double> number = base::ParseDouble(value);
  if (!number || !(*number >= 0)) return std::nullopt;
  return static_cast<float>(*number > 1 ? 1 : *number);
}

/// Calls take(key, value) for every member of the object or list that `outer` stands before.
template <class Take>
bool ForEachMember(formats::JsonScanner* outer, const Take& take) {
  formats::JsonScanner inner = outer->Enter();
  for (Step step = inner.Next(); step != Step::kEnd; step = inner.Next()) {
    std::string_view value;
    if (step != Step::kMember || inner.TakeValue(&value) != Step::kMember) return false;
    take(inner.raw_key(), value);
  }
  outer->Leave(inner);
  return true;
}

void TakeData(std::string_view key, std::string_view value, ScannedNode* node) {
  if (key == "precision_index") node->precision_index = Number(value);
  if (key == "overflow_level") node->overflow = ParseOverflow(Unquoted(value));
}

void TakeOwn(std::string_view key, std::string_view value, ScannedNode* node) {
  if (key == "index") node->own_index = Number(value);
  if (key == "status") node->status = ParseNodeStatus(Unquoted(value));
  if (key == "role") node->role = ParseRole(Unquoted(value));
}

void TakeScalar(std::string_view key, std::string_view value, ScannedNode* node) {
  if (key == "node_type") node->kind = ParseKind(value);
  if (key == "upnode") node->parent = Unquoted(value);
  if (key == "micro_step_id") {
    (void)std::from_chars(value.data(), value.data() + value.size(), node->micro_step);
  }
}

}  // namespace

bool ScanVisNode(formats::JsonScanner* members, ScannedNode* node) {
  for (Step step = members->Next(); step != Step::kEnd; step = members->Next()) {
    if (step != Step::kMember) return false;
    const std::string_view key = members->raw_key();
    const char start = members->value_start();
    if (key == "matched_node_link" && start == '[') {
      if (!ForEachMember(members, [node](std::string_view, std::string_view value) {
            node->partner = Unquoted(value);
          })) {
        return false;
      }
    } else if (key == "data" && start == '{') {
      if (!ForEachMember(members, [node](std::string_view name, std::string_view value) {
            TakeData(name, value, node);
          })) {
        return false;
      }
    } else if (key == "msprobe" && start == '{') {
      if (!ForEachMember(members, [node](std::string_view name, std::string_view value) {
            TakeOwn(name, value, node);
          })) {
        return false;
      }
    } else {
      std::string_view value;
      if (members->TakeValue(&value) != Step::kMember) return false;
      if (key == "output_data")
        node->shape = FirstShape(value);
      else if (key == "subnodes")
        node->children = value;
      else
        TakeScalar(key, value, node);
    }
  }
  return true;
}

std::string_view FirstShape(std::string_view output_data) {
  constexpr std::string_view kKey = "\"shape\":";
  // Values are flat objects: what stands behind the first closing brace belongs to the second.
  const std::string_view first = output_data.substr(0, output_data.find('}'));
  const size_t key = first.find(kKey);
  if (key == std::string_view::npos) return {};
  const size_t begin = first.find('"', key + kKey.size());
  if (begin == std::string_view::npos) return {};
  const size_t end = first.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return first.substr(begin + 1, end - begin - 1);
}

std::optional<compare::NodeStatus> ParseNodeStatus(std::string_view word) {
  using compare::NodeStatus;
  for (const NodeStatus status : {NodeStatus::kUnmatched, NodeStatus::kPass, NodeStatus::kWarning,
                                  NodeStatus::kError, NodeStatus::kUnreadable}) {
    if (word == compare::NodeStatusName(status)) return status;
  }
  return std::nullopt;
}

compare::Role ParseRole(std::string_view word) {
  using compare::Role;
  for (const Role role :
       {Role::kCulprit, Role::kVictim, Role::kAmplifier, Role::kCollective, Role::kUndecidable}) {
    if (word == compare::RoleName(role)) return role;
  }
  return Role::kNone;
}

graph::OverflowLevel ParseOverflow(std::string_view word) {
  if (word == "medium") return graph::OverflowLevel::kMedium;
  if (word == "high") return graph::OverflowLevel::kHigh;
  if (word == "critical") return graph::OverflowLevel::kCritical;
  return graph::OverflowLevel::kNone;
}

graph::NodeKind ParseKind(std::string_view number) {
  if (number == "0") return graph::NodeKind::kModule;
  if (number == "9") return graph::NodeKind::kApiCollection;
  return graph::NodeKind::kApi;
}

}  // namespace msprobe::visfile
