#pragma once

#include <cstdint>
#include <vector>

#include "visfile/unit_index.h"

namespace msprobe::viewer {

/// A row of the page: a target node and its golden partner, or one of them and a gap.
struct RowIds {
  uint32_t target = graph::kNoNode;
  uint32_t golden = graph::kNoNode;
  friend bool operator==(const RowIds&, const RowIds&) = default;
};

/// Children of a row: those of both nodes in call order, partners in one row. A node whose partner
/// is a child of another row stands alone.
std::vector<RowIds> AlignChildren(const visfile::UnitIndex& unit, RowIds row);

/// Number of rows that AlignChildren gives, without making them.
uint32_t CountAlignedChildren(const visfile::UnitIndex& unit, RowIds row);

struct PathStep {
  RowIds row;
  uint32_t at = 0;     ///< index of the row among its siblings
  uint32_t total = 0;  ///< number of siblings
};

/// The rows from below the root down to the one that holds the node; with `alone` those of its own
/// side only, without partners.
std::vector<PathStep> PathTo(const visfile::UnitIndex& unit, visfile::Side side, uint32_t id,
                             bool alone = false);

}  // namespace msprobe::viewer
