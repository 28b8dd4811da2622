#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "dump/record.h"

namespace msprobe::report {

/// One line of the table: a tensor of the target, its partner, or both. Views live until the next
/// row.
struct TableRow {
  std::string_view target_node;  ///< empty: golden only
  std::string_view golden_node;  ///< empty: no partner
  const dump::Value* target = nullptr;
  const dump::Value* golden = nullptr;
  const compare::ValueResult* result = nullptr;  ///< null: nothing was compared
  compare::NodeStatus status = compare::NodeStatus::kPass;
  std::string_view reason;
  std::string_view stack;  ///< "model.py:10  x = self.fc(x)", on the first row of a node
};

/// The rows of a comparison in execution order: the target's nodes, between them what only golden
/// has. A node that has no tensors has a row of its own if something is wrong with it; a scalar
/// argument has one if it differs.
class TableRows {
 public:
  explicit TableRows(const compare::Comparison& comparison);

  const compare::Comparison& comparison() const { return comparison_; }
  /// Nodes that may have rows: ForEach() takes parts of [0, size()).
  size_t size() const { return entries_.size(); }
  /// Const and thread-safe.
  void ForEach(size_t begin, size_t end, const std::function<void(const TableRow&)>& take) const;

 private:
  struct Entry {
    graph::NodeId node;
    bool golden_only;
  };
  class Walk;

  const compare::Comparison& comparison_;
  std::vector<Entry> entries_;
};

/// "pass", "warning" …; with checksums that were compared "Different" in place of "error".
std::string_view ResultWord(const compare::Comparison& comparison, const TableRow& row);

}  // namespace msprobe::report
