#include "viewer/aligned_rows.h"

#include <algorithm>

namespace msprobe::viewer {

using graph::kNoNode;
using visfile::Side;
using visfile::SideIndex;
using visfile::UnitIndex;

namespace {

std::span<const uint32_t> ChildrenOf(const SideIndex& side, uint32_t id) {
  if (id >= side.size()) return {};
  return side.children(id);
}

/// Partner of a child of the row's target, if it is a child of the row's golden.
uint32_t PartnerInRow(const UnitIndex& unit, RowIds row, uint32_t target_child) {
  const uint32_t partner = unit.target.partners[target_child];
  if (partner >= unit.golden.size() || row.golden == kNoNode) return kNoNode;
  return unit.golden.parents[partner] == row.golden ? partner : kNoNode;
}

bool HasPartnerInRow(const UnitIndex& unit, RowIds row, uint32_t golden_child) {
  const uint32_t partner = unit.golden.partners[golden_child];
  return partner < unit.target.size() && row.target != kNoNode &&
         unit.target.parents[partner] == row.target &&
         unit.target.partners[partner] == golden_child;
}

}  // namespace

std::vector<RowIds> AlignChildren(const UnitIndex& unit, RowIds row) {
  const auto targets = ChildrenOf(unit.target, row.target);
  const auto goldens = ChildrenOf(unit.golden, row.golden);
  std::vector<RowIds> rows;
  rows.reserve(std::max(targets.size(), goldens.size()));
  // Golden children without a partner here go in front of the first paired one behind them. Pairs
  // that cross (called in another order) follow the target's order.
  size_t next_golden = 0;
  const auto flush_until = [&](size_t end) {
    for (; next_golden < end; ++next_golden) {
      if (!HasPartnerInRow(unit, row, goldens[next_golden])) {
        rows.push_back({kNoNode, goldens[next_golden]});
      }
    }
  };
  for (const uint32_t child : targets) {
    const uint32_t partner = PartnerInRow(unit, row, child);
    if (partner != kNoNode) {
      const auto place =
          std::ranges::lower_bound(goldens, unit.golden.position[partner], {},
                                   [&unit](uint32_t id) { return unit.golden.position[id]; });
      flush_until(static_cast<size_t>(place - goldens.begin()));
    }
    rows.push_back({child, partner});
  }
  flush_until(goldens.size());
  return rows;
}

uint32_t CountAlignedChildren(const UnitIndex& unit, RowIds row) {
  auto count = static_cast<uint32_t>(ChildrenOf(unit.target, row.target).size());
  for (const uint32_t child : ChildrenOf(unit.golden, row.golden)) {
    if (!HasPartnerInRow(unit, row, child)) ++count;
  }
  return count;
}

std::vector<PathStep> PathTo(const UnitIndex& unit, Side side, uint32_t id, bool alone) {
  // From the node up: the row of a node is the node and its partner, if their parents' rows are
  // the same row too; else the node stands alone.
  const SideIndex& own = unit.side(side);
  std::vector<uint32_t> chain;
  for (uint32_t at = id; at != kNoNode && at != 0 && chain.size() <= own.size();
       at = own.parents[at]) {
    chain.push_back(at);
  }
  std::vector<PathStep> path;
  RowIds row{0, unit.is_comparison() ? 0 : kNoNode};
  if (alone) row = side == Side::kTarget ? RowIds{0, kNoNode} : RowIds{kNoNode, 0};
  for (size_t i = chain.size(); i-- > 0;) {
    const std::vector<RowIds> siblings = AlignChildren(unit, row);
    const auto found = std::find_if(siblings.begin(), siblings.end(), [&](const RowIds& sibling) {
      return (side == Side::kTarget ? sibling.target : sibling.golden) == chain[i];
    });
    if (found == siblings.end()) return {};
    row = *found;
    path.push_back({row, static_cast<uint32_t>(found - siblings.begin()),
                    static_cast<uint32_t>(siblings.size())});
  }
  return path;
}

}  // namespace msprobe::viewer
