#include "report/table_rows.h"

#include <algorithm>
#include <utility>

#include "graph/graph.h"
#include "report/unit_summary.h"

namespace msprobe::report {

namespace {

using compare::Comparison;
using compare::NodeStatus;
using compare::ValueResult;
using dump::Value;
using dump::ValueKind;
using graph::NodeId;

constexpr uint32_t kNoValue = UINT32_MAX;

bool IsCollection(const graph::Graph& graph, NodeId id) {
  return id == graph::kRootNode || graph.nodes[id].kind == graph::NodeKind::kApiCollection;
}

/// A node that only golden has, and the matched node that it follows there (of the target).
struct GoldenOnly {
  NodeId after;
  NodeId node;
  bool operator<(const GoldenOnly& other) const { return after < other.after; }
};

/// By `after`, then in the order of golden; kRootNode stands for the start.
std::vector<GoldenOnly> FindGoldenOnly(const Comparison& comparison) {
  std::vector<GoldenOnly> found;
  NodeId after = graph::kRootNode;
  for (const NodeId id : graph::EntryOrder(*comparison.golden)) {
    const NodeId target = comparison.match.target_of_golden[id];
    if (target != graph::kNoNode) {
      after = target;
    } else if (!IsCollection(*comparison.golden, id)) {
      found.push_back({after, id});
    }
  }
  std::stable_sort(found.begin(), found.end());
  return found;
}

}  // namespace

/// Reads the records of one part of the rows.
class TableRows::Walk {
 public:
  Walk(const Comparison& comparison, const std::function<void(const TableRow&)>& take)
      : comparison_(comparison), take_(take) {}

  void GoldenOnly(NodeId id) {
    const graph::Node& node = comparison_.golden->nodes[id];
    row_ = {};
    row_.golden_node = node.name;
    row_.status = NodeStatus::kUnmatched;
    note_ =
        graph::MatchNote(comparison_.match, *comparison_.target, *comparison_.golden, id, false);
    row_.reason = note_;
    SetStack(*comparison_.golden, id);
    if (!Read(*comparison_.golden, node, &golden_record_)) SetDamaged(true, id);
    bool any = false;
    for (const Value& value : golden_record_.values) {
      if (value.kind != ValueKind::kTensor) continue;
      row_.golden = &value;
      any = true;
      Take();
    }
    if (!any) Take();
  }

  void Target(NodeId id) {
    const graph::Node& node = comparison_.target->nodes[id];
    const NodeId partner = comparison_.match.golden_of_target[id];
    row_ = {};
    row_.target_node = node.name;
    SetStack(*comparison_.target, id);
    target_damaged_ = !Read(*comparison_.target, node, &target_record_);
    golden_record_.values.clear();
    if (partner != graph::kNoNode) {
      row_.golden_node = comparison_.golden->nodes[partner].name;
      Read(*comparison_.golden, comparison_.golden->nodes[partner], &golden_record_);
    }
    bool any = TakeTargetValues(id, partner == graph::kNoNode);
    any |= TakeGoldenLeft(comparison_.result(id));
    const compare::NodeResult& result = comparison_.result(id);
    if (any || result.status == NodeStatus::kPass) return;
    row_.target = row_.golden = nullptr;
    row_.result = nullptr;
    row_.status = result.status;
    row_.reason = comparison_.reasons[result.reason];
    if (target_damaged_ && partner == graph::kNoNode) SetDamaged(false, id);
    Take();
  }

 private:
  void Take() {
    take_(row_);
    row_.stack = {};
  }

  /// That a node has no partner shows in its names; that it is damaged would show nowhere else.
  void SetDamaged(bool golden, NodeId id) {
    const auto place = std::ranges::lower_bound(
        comparison_.damaged, std::pair(golden, id), {},
        [](const compare::DamagedNode& node) { return std::pair(node.golden, node.node); });
    if (place == comparison_.damaged.end()) return;
    row_.status = NodeStatus::kUnreadable;
    row_.reason = comparison_.reasons[place->reason];
  }

  void SetStack(const graph::Graph& graph, NodeId id) {
    const dump::StackId stack = graph.nodes[id].stack;
    stack_.clear();
    if (stack == dump::kNoStack) return;
    const std::vector<std::string> lines = graph::StackLines(graph, id, false);
    if (!lines.empty()) stack_ = SourceLine(lines.front());
    row_.stack = stack_;
  }

  /// False if the record is damaged, which comparing has said; it has no values then.
  static bool Read(const graph::Graph& graph, const graph::Node& node, dump::Record* record) {
    if (node.entry != dump::kNoEntry && graph.dump->Read(node.entry, record).ok()) return true;
    record->values.clear();
    return node.entry == dump::kNoEntry;
  }

  /// A verdict on the node as a whole stands where it shows: on the outputs, or on all values of a
  /// node without outputs.
  void AddNodeVerdict(const compare::NodeResult& node, bool has_outputs) {
    if (has_outputs && row_.target->section != dump::Section::kOutput) return;
    if (node.status <= row_.status) return;
    row_.status = node.status;
    row_.reason = comparison_.reasons[node.reason];
  }

  bool TakeTargetValues(NodeId id, bool unmatched) {
    const compare::NodeResult& node = comparison_.result(id);
    NodeStatus worst = NodeStatus::kPass;
    for (size_t i = 0; i < node.values_size; ++i) {
      worst = std::max(worst, comparison_.values[node.values_begin + i].status);
    }
    const bool has_outputs =
        std::any_of(target_record_.values.begin(), target_record_.values.end(), [](const Value& v) {
          return v.section == dump::Section::kOutput && v.kind == ValueKind::kTensor;
        });
    bool any = false;
    for (size_t i = 0; i < target_record_.values.size(); ++i) {
      row_.target = &target_record_.values[i];
      row_.golden = nullptr;
      row_.result = nullptr;
      const bool is_tensor = row_.target->kind == ValueKind::kTensor;
      if (unmatched || i >= node.values_size) {
        if (!is_tensor) continue;
        row_.status = node.status;
        row_.reason = comparison_.reasons[node.reason];
      } else {
        const ValueResult& result = comparison_.values[node.values_begin + i];
        if (!is_tensor && result.status == NodeStatus::kPass) continue;
        row_.result = &result;
        row_.status = result.status;
        row_.reason = comparison_.reasons[result.reason];
        if (result.golden_value < golden_record_.values.size()) {
          row_.golden = &golden_record_.values[result.golden_value];
        }
        if (is_tensor && node.status > worst) AddNodeVerdict(node, has_outputs);
      }
      any = true;
      Take();
    }
    return any;
  }

  /// Tensors of a matched golden node that pair with nothing.
  bool TakeGoldenLeft(const compare::NodeResult& node) {
    if (golden_record_.values.empty()) return false;
    taken_.assign(golden_record_.values.size(), false);
    for (size_t i = 0; i < node.values_size; ++i) {
      const uint32_t partner = comparison_.values[node.values_begin + i].golden_value;
      if (partner != kNoValue && partner < taken_.size()) taken_[partner] = true;
    }
    bool any = false;
    for (size_t i = 0; i < taken_.size(); ++i) {
      const Value& value = golden_record_.values[i];
      if (taken_[i] || value.kind != ValueKind::kTensor) continue;
      row_.target = nullptr;
      row_.golden = &value;
      row_.result = nullptr;
      row_.status = target_damaged_ ? NodeStatus::kUnreadable : NodeStatus::kWarning;
      row_.reason = "target has no such tensor";
      if (target_damaged_) row_.reason = comparison_.reasons[node.reason];
      any = true;
      Take();
    }
    return any;
  }

  const Comparison& comparison_;
  const std::function<void(const TableRow&)>& take_;
  TableRow row_;
  std::string note_;  ///< what row_.reason points to where no table holds it
  std::string stack_;
  bool target_damaged_ = false;
  dump::Record target_record_;
  dump::Record golden_record_;
  std::vector<bool> taken_;
};

TableRows::TableRows(const Comparison& comparison) : comparison_(comparison) {
  const std::vector<GoldenOnly> golden_only = FindGoldenOnly(comparison);
  entries_.reserve(comparison.target->nodes.size() + golden_only.size());
  for (const NodeId id : graph::EntryOrder(*comparison.target)) {
    if (!IsCollection(*comparison.target, id)) entries_.push_back({id, false});
    const auto [begin, end] =
        std::equal_range(golden_only.begin(), golden_only.end(), GoldenOnly{id, 0});
    for (auto it = begin; it != end; ++it) entries_.push_back({it->node, true});
  }
}

void TableRows::ForEach(size_t begin, size_t end,
                        const std::function<void(const TableRow&)>& take) const {
  Walk walk(comparison_, take);
  for (size_t i = begin; i < end; ++i) {
    if (entries_[i].golden_only) {
      walk.GoldenOnly(entries_[i].node);
    } else {
      walk.Target(entries_[i].node);
    }
  }
}

std::string_view ResultWord(const Comparison& comparison, const TableRow& row) {
  if (comparison.mode == compare::CompareMode::kMd5 && row.status == NodeStatus::kError &&
      row.result != nullptr && row.golden != nullptr && row.result->md5_compared &&
      !row.result->md5_equal && row.target->kind == ValueKind::kTensor) {
    return "Different";
  }
  return compare::NodeStatusName(row.status);
}

}  // namespace msprobe::report
