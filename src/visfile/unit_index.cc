#include "visfile/unit_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace msprobe::visfile {

using graph::kNoNode;

uint32_t SideIndex::Add(std::string_view name) {
  names.push_back(name);
  parents.push_back(kNoNode);
  kinds.push_back(graph::NodeKind::kModule);
  partners.push_back(kNoNode);
  index.push_back(std::numeric_limits<float>::quiet_NaN());
  status.push_back(compare::NodeStatus::kUnmatched);
  overflow.push_back(graph::OverflowLevel::kNone);
  roles.push_back(compare::Role::kNone);
  micro_steps.push_back(0);
  places.push_back(0);
  return static_cast<uint32_t>(names.size() - 1);
}

void SideIndex::Reserve(size_t count) {
  names.reserve(count);
  parents.reserve(count);
  kinds.reserve(count);
  partners.reserve(count);
  index.reserve(count);
  status.reserve(count);
  overflow.reserve(count);
  roles.reserve(count);
  micro_steps.reserve(count);
  places.reserve(count);
}

namespace {

/// Counting sort of the nodes by parent; siblings by rank, or else by id.
void LinkChildren(SideIndex* side) {
  const size_t count = side->size();
  side->child_begin.assign(count + 1, 0);
  for (uint32_t id = 1; id < count; ++id) ++side->child_begin[side->parents[id] + 1];
  for (size_t id = 0; id < count; ++id) side->child_begin[id + 1] += side->child_begin[id];
  side->child_ids.resize(count > 0 ? count - 1 : 0);
  std::vector<uint32_t> next(side->child_begin.begin(), side->child_begin.end() - 1);
  for (uint32_t id = 1; id < count; ++id) side->child_ids[next[side->parents[id]]++] = id;
  if (side->sibling_ranks.size() != count) return;
  const auto rank_of = [side](uint32_t id) { return side->sibling_ranks[id]; };
  for (uint32_t id = 0; id < count; ++id) {
    const std::span<uint32_t> children(side->child_ids.data() + side->child_begin[id],
                                       side->child_begin[id + 1] - side->child_begin[id]);
    if (!std::ranges::is_sorted(children, {}, rank_of)) {
      std::ranges::stable_sort(children, {}, rank_of);
    }
  }
}

/// Depth first from the root without recursion.
void OrderNodes(SideIndex* side) {
  const size_t count = side->size();
  side->order.clear();
  side->order.reserve(count);
  side->position.assign(count, kNoNode);
  std::vector<uint32_t> open{0};
  while (!open.empty()) {
    const uint32_t id = open.back();
    open.pop_back();
    side->position[id] = static_cast<uint32_t>(side->order.size());
    side->order.push_back(id);
    const auto children = side->children(id);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
}

}  // namespace

void SideIndex::Complete(float worst_band) {
  const size_t count = size();
  if (count == 0) return;
  parents[0] = kNoNode;
  for (uint32_t id = 1; id < count; ++id) {
    if (parents[id] >= count || parents[id] == id) parents[id] = 0;
  }
  LinkChildren(this);
  OrderNodes(this);
  if (order.size() < count) {
    // What the root does not reach hangs on a cycle.
    for (uint32_t id = 1; id < count; ++id) {
      if (position[id] == kNoNode) parents[id] = 0;
    }
    LinkChildren(this);
    OrderNodes(this);
  }
  sibling_ranks = {};
  SumUp(worst_band);
}

int Severity(compare::NodeStatus status) {
  switch (status) {
    case compare::NodeStatus::kUnmatched: return 0;
    case compare::NodeStatus::kPass: return 1;
    case compare::NodeStatus::kWarning: return 2;
    case compare::NodeStatus::kUnreadable: return 3;
    case compare::NodeStatus::kError: return 4;
  }
  return 0;
}

int Severity(graph::OverflowLevel level) { return static_cast<int>(level); }

namespace {

/// The worst value below each node, and how many nodes have it.
template <class Value>
class WorstBelow {
 public:
  WorstBelow(size_t size, Value none, std::vector<Value>* values, std::vector<uint32_t>* counts)
      : values_(*values), counts_(*counts) {
    values_.assign(size, none);
    counts_.assign(size, 0);
  }

  /// `own` is the node's value; what is below the node must be known already.
  void Add(uint32_t parent, uint32_t id, Value own) {
    Take(parent, values_[id], counts_[id]);
    Take(parent, own, 1);
  }

 private:
  void Take(uint32_t parent, Value value, uint32_t count) {
    const int more = Severity(value) - Severity(values_[parent]);
    if (more > 0) {
      values_[parent] = value;
      counts_[parent] = count;
    } else if (more == 0 && Severity(value) > 0) {
      counts_[parent] += count;
    }
  }

  std::vector<Value>& values_;
  std::vector<uint32_t>& counts_;
};

}  // namespace

void SideIndex::SumUp(float worst_band) {
  const size_t count = size();
  worst = index;
  inside.assign(count, 0);
  WorstBelow overflows(count, graph::OverflowLevel::kNone, &overflow_inside, &overflow_count);
  WorstBelow statuses(count, compare::NodeStatus::kUnmatched, &status_inside, &status_count);
  for (size_t at = count; at-- > 1;) {
    const uint32_t id = order[at];
    const uint32_t parent = parents[id];
    if (!(worst[parent] >= worst[id])) {
      if (!std::isnan(worst[id])) worst[parent] = worst[id];
    }
    inside[parent] += inside[id] + (index[id] >= worst_band ? 1 : 0);
    overflows.Add(parent, id, overflow[id]);
    statuses.Add(parent, id, status[id]);
  }
}

void ShowPartnersMetrics(const SideIndex& target, SideIndex* golden) {
  for (uint32_t id = 0; id < golden->size(); ++id) {
    const uint32_t partner = golden->partners[id];
    if (partner >= target.size()) {
      golden->index[id] = std::numeric_limits<float>::quiet_NaN();
      golden->status[id] = compare::NodeStatus::kUnmatched;
      continue;
    }
    golden->index[id] = target.index[partner];
    golden->status[id] = target.status[partner];
    golden->roles[id] = target.roles[partner];
  }
}

namespace {

/// A pair is one only if both sides say so; a partner that is said on one side only counts too.
void LinkBothWays(SideIndex* from, SideIndex* to) {
  for (uint32_t id = 0; id < from->size(); ++id) {
    const uint32_t partner = from->partners[id];
    if (partner == kNoNode) continue;
    const bool exists = partner < to->size();
    if (exists && to->partners[partner] == kNoNode) to->partners[partner] = id;
    if (!exists || to->partners[partner] != id) from->partners[id] = kNoNode;
  }
}

}  // namespace

void UnitIndex::Finish(compare::CompareMode mode) {
  if (is_comparison()) {
    LinkBothWays(&target, &golden);
    LinkBothWays(&golden, &target);
    ShowPartnersMetrics(target, &golden);
  } else {
    std::ranges::fill(target.partners, kNoNode);  // whatever the file says
  }
  const float worst_band = BandsOf(mode).back().lo;
  target.Complete(worst_band);
  golden.Complete(worst_band);
}

compare::NodeStatus StatusOfIndex(std::span<const Band> bands, float index) {
  if (!(index >= bands[bands.size() / 2].lo)) return compare::NodeStatus::kPass;
  return index >= bands.back().lo ? compare::NodeStatus::kError : compare::NodeStatus::kWarning;
}

std::vector<Band> BandsOf(compare::CompareMode mode) {
  const auto bands = [](std::initializer_list<float> bounds) {
    static constexpr std::string_view kColors[] = {"#FFFCF3", "#FFEDBE", "#FFDC7F", "#FFC62E",
                                                   "#FF704D"};
    const auto text = [](float value) {
      std::string digits = std::to_string(value);
      digits.erase(digits.find_last_not_of('0') + 1);
      if (digits.ends_with('.')) digits.pop_back();
      return digits;
    };
    std::vector<Band> result;
    for (auto lo = bounds.begin(); lo + 1 != bounds.end(); ++lo) {
      result.push_back({std::string(kColors[result.size()]), *lo, *(lo + 1),
                        text(*lo) + " – " + text(*(lo + 1))});
    }
    return result;
  };
  switch (mode) {
    case compare::CompareMode::kRealData: return bands({0, 0.05F, 0.1F, 0.15F, 0.2F, 1});
    case compare::CompareMode::kStatistics: return bands({0, 0.2F, 0.4F, 0.6F, 0.8F, 1});
    case compare::CompareMode::kMd5:
    case compare::CompareMode::kStructure: break;
  }
  return {{"#FFFCF3", 0, 0.5F, "equal"}, {"#FF704D", 0.5F, 1, "different"}};
}

size_t BandIndex(std::span<const Band> bands, float index) {
  for (size_t i = 0; i + 1 < bands.size(); ++i) {
    if (index < bands[i].hi) return i;
  }
  return bands.size() - 1;
}

}  // namespace msprobe::visfile
