#include "report/first_places.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace msprobe::report {

namespace {

int64_t StepOf(const UnitSummary& unit) { return unit.step.value_or(-1); }

}  // namespace

std::vector<PlacedNode> FirstCulprits(std::span<const UnitSummary> units) {
  std::vector<std::tuple<int64_t, uint32_t, size_t, size_t>> order;  // step, clock, place, unit
  for (size_t unit = 0; unit < units.size(); ++unit) {
    const std::vector<ListedNode>& culprits = units[unit].culprits;
    for (size_t place = 0; place < culprits.size(); ++place) {
      order.emplace_back(StepOf(units[unit]), culprits[place].clock, place, unit);
    }
  }
  const size_t count = std::min(kListedNodes, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
  std::vector<PlacedNode> first;
  for (size_t i = 0; i < count; ++i) {
    const auto [step, clock, place, unit] = order[i];
    first.push_back({&units[unit], &units[unit].culprits[place]});
  }
  return first;
}

std::optional<PlacedNode> FirstDifference(std::span<const UnitSummary> units) {
  std::optional<PlacedNode> first;
  for (const UnitSummary& unit : units) {
    if (!unit.culprits.empty()) return std::nullopt;
    if (!unit.first_difference) continue;
    const std::tuple time(StepOf(unit), unit.first_difference->clock);
    if (first && std::tuple(StepOf(*first->unit), first->node->clock) <= time) continue;
    first = {&unit, &*unit.first_difference};
  }
  return first;
}

std::vector<const UnitSummary*> ByWhatTheyShow(std::span<const UnitSummary> units) {
  std::vector<const UnitSummary*> order;
  for (const UnitSummary& unit : units) order.push_back(&unit);
  std::ranges::stable_sort(order, {}, [](const UnitSummary* unit) {
    const int kind = !unit->culprits.empty() ? 0 : unit->first_difference ? 1 : 2;
    const uint32_t clock = kind == 0   ? unit->culprits.front().clock
                           : kind == 1 ? unit->first_difference->clock
                                       : 0;
    return std::tuple(kind, StepOf(*unit), clock);
  });
  return order;
}

}  // namespace msprobe::report
