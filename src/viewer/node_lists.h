#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "msprobe/status.h"
#include "visfile/unit_index.h"

namespace msprobe::viewer {

struct NodeRef {
  visfile::Side side = visfile::Side::kTarget;
  uint32_t id = 0;
};

/// Which nodes a list holds: the parameters `by` and `value` of the API.
class NodeFilter {
 public:
  static Result<NodeFilter> Parse(std::string_view by, std::string_view value,
                                  std::span<const visfile::Band> bands);
  bool Accepts(const visfile::SideIndex& side, uint32_t id) const;
  /// True for a list that a single graph has no entries of.
  bool NeedsPairs() const { return by_ == By::kUnmatched; }

 private:
  enum class By : uint8_t { kBand, kStatus, kUnmatched, kOverflow, kRole, kSuspicious };
  By by_ = By::kSuspicious;
  std::vector<visfile::Band> bands_;
  uint32_t value_ = 0;
};

struct NodePage {
  uint64_t total = 0;
  std::vector<NodeRef> items;
};

/// Entries [offset, offset + limit) of the list, in execution order.
NodePage ListNodes(const visfile::UnitIndex& unit, visfile::Side side, const NodeFilter& filter,
                   uint64_t offset, uint64_t limit);

/// The next (forward) or previous entry of the list after a node; nullopt at the end.
std::optional<NodeRef> SeekNode(const visfile::UnitIndex& unit, NodeRef from, bool forward,
                                const NodeFilter& filter);

struct OverviewBin {
  float worst;  ///< NaN: nothing in it has an index
  uint32_t unmatched = 0;
  uint32_t unmatched_id = 0;  ///< the first of them
  NodeRef node;               ///< the worst in it
  /// The worst in it; kUnmatched: nothing is worse than a pass.
  compare::NodeStatus status = compare::NodeStatus::kUnmatched;
  uint32_t status_id = 0;                                       ///< the first node that has it
  graph::OverflowLevel overflow = graph::OverflowLevel::kNone;  ///< the worst in it
  uint32_t overflow_id = 0;
};
/// The target's execution order cut into at most `bins` equal parts.
std::vector<OverviewBin> Overview(const visfile::UnitIndex& unit, uint32_t bins);

struct UnitCounts {
  std::vector<uint64_t> bands;
  uint64_t unmatched_target = 0, unmatched_golden = 0;
  uint64_t pass = 0, warning = 0, error = 0, unreadable = 0;
  uint64_t medium = 0, high = 0, critical = 0;
  uint64_t culprits = 0;
  uint64_t undecided = 0;  ///< differ, and it cannot be told who is to blame
};
UnitCounts CountNodes(const visfile::UnitIndex& unit, std::span<const visfile::Band> bands);

}  // namespace msprobe::viewer
