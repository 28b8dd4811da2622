#include "report/first_places.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace msprobe::report {

namespace {

int64_t StepOf(const UnitSummary& unit) { return unit.step.value_or(-1); }

/// What comes first: where values differ, where it began rather than where another rank brought it.
auto TimeOf(const UnitSummary& unit) {
  const ListedNode& node = *unit.first_difference;
  const bool received =
      node.role == compare::Role::kCollective || node.role == compare::Role::kVictim;
  return std::tuple(node.by_status, StepOf(unit), node.clock, received);
}

}  // namespace

std::vector<PlacedNode> FirstCulprits(std::span<const UnitSummary> units) {
  // Consequence, step, clock, place, unit.
  std::vector<std::tuple<bool, int64_t, uint32_t, size_t, size_t>> order;
  for (size_t unit = 0; unit < units.size(); ++unit) {
    const std::vector<ListedNode>& culprits = units[unit].culprits;
    for (size_t place = 0; place < culprits.size(); ++place) {
      order.emplace_back(culprits[place].consequence, StepOf(units[unit]), culprits[place].clock,
                         place, unit);
    }
  }
  const size_t count = std::min(kListedNodes, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
  std::vector<PlacedNode> first;
  for (size_t i = 0; i < count; ++i) {
    const auto [consequence, step, clock, place, unit] = order[i];
    first.push_back({&units[unit], &units[unit].culprits[place]});
  }
  return first;
}

std::optional<PlacedNode> FirstDifference(std::span<const UnitSummary> units) {
  int64_t culprit_step = INT64_MAX;
  for (const UnitSummary& unit : units) {
    if (!unit.culprits.empty()) culprit_step = std::min(culprit_step, StepOf(unit));
  }
  std::optional<PlacedNode> first;
  for (const UnitSummary& unit : units) {
    if (!unit.first_difference || StepOf(unit) >= culprit_step) continue;
    // What the tolerances hide says little beside a culprit.
    if (unit.first_difference->by_status && culprit_step != INT64_MAX) continue;
    if (first && TimeOf(*first->unit) <= TimeOf(unit)) continue;
    first = {&unit, &*unit.first_difference};
  }
  return first;
}

std::vector<const UnitSummary*> ByWhatTheyShow(std::span<const UnitSummary> units) {
  std::vector<const UnitSummary*> order;
  for (const UnitSummary& unit : units) order.push_back(&unit);
  std::ranges::stable_sort(order, {}, [](const UnitSummary* unit) {
    const bool differs = unit->first_difference && !unit->first_difference->by_status;
    const int kind = !unit->culprits.empty() ? 0 : differs ? 1 : 2;
    const uint32_t clock = kind == 0   ? unit->culprits.front().clock
                           : kind == 1 ? unit->first_difference->clock
                                       : 0;
    return std::tuple(kind == 2, StepOf(*unit), kind, clock);
  });
  return order;
}

}  // namespace msprobe::report
