#include "viewer/node_lists.h"

#include <array>
#include <cmath>

#include "base/numbers.h"

namespace msprobe::viewer {

using compare::NodeStatus;
using compare::Role;
using graph::OverflowLevel;
using visfile::Side;
using visfile::SideIndex;
using visfile::UnitIndex;

namespace {

template <class Enum, size_t kSize>
std::optional<uint32_t> Lookup(const std::array<std::pair<std::string_view, Enum>, kSize>& words,
                               std::string_view word) {
  for (const auto& [name, value] : words) {
    if (name == word) return static_cast<uint32_t>(value);
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, NodeStatus>, 4> kStatusWords = {{
    {"pass", NodeStatus::kPass},
    {"warning", NodeStatus::kWarning},
    {"error", NodeStatus::kError},
    {"unreadable", NodeStatus::kUnreadable},
}};
constexpr std::array<std::pair<std::string_view, OverflowLevel>, 3> kOverflowWords = {{
    {"medium", OverflowLevel::kMedium},
    {"high", OverflowLevel::kHigh},
    {"critical", OverflowLevel::kCritical},
}};
constexpr std::array<std::pair<std::string_view, Role>, 5> kRoleWords = {{
    {"culprit", Role::kCulprit},
    {"victim", Role::kVictim},
    {"amplifier", Role::kAmplifier},
    {"collective", Role::kCollective},
    {"undecidable", Role::kUndecidable},
}};

Status BadValue(std::string_view by, std::string_view value) {
  return InvalidArgumentError(
      "'" + std::string(value) + "' is no value of the list '" + std::string(by) + "'",
      "see the API's description of 'list'");
}

}  // namespace

Result<NodeFilter> NodeFilter::Parse(std::string_view by, std::string_view value,
                                     std::span<const visfile::Band> bands) {
  NodeFilter filter;
  filter.bands_.assign(bands.begin(), bands.end());
  std::optional<uint32_t> number = 0;
  if (by == "band") {
    filter.by_ = By::kBand;
    const std::optional<uint64_t> band = base::ParseUnsigned(value);
    if (!band || *band >= bands.size()) return BadValue(by, value);
    number = static_cast<uint32_t>(*band);
  } else if (by == "status") {
    filter.by_ = By::kStatus;
    number = Lookup(kStatusWords, value);
  } else if (by == "unmatched") {
    filter.by_ = By::kUnmatched;
  } else if (by == "overflow") {
    filter.by_ = By::kOverflow;
    number = Lookup(kOverflowWords, value);
  } else if (by == "role") {
    filter.by_ = By::kRole;
    number = Lookup(kRoleWords, value);
  } else if (by == "suspicious" || by.empty()) {
    filter.by_ = By::kSuspicious;
  } else {
    return InvalidArgumentError("there is no list '" + std::string(by) + "'",
                                "use band, status, unmatched, overflow, role or suspicious");
  }
  if (!number) return BadValue(by, value);
  filter.value_ = *number;
  return filter;
}

bool NodeFilter::Accepts(const SideIndex& side, uint32_t id) const {
  if (id == 0) return false;  // the root is the page itself
  switch (by_) {
    case By::kBand:
      return !std::isnan(side.index[id]) && visfile::BandIndex(bands_, side.index[id]) == value_;
    case By::kStatus: return static_cast<uint32_t>(side.status[id]) == value_;
    case By::kUnmatched: return side.partners[id] == graph::kNoNode;
    case By::kOverflow: return static_cast<uint32_t>(side.overflow[id]) == value_;
    case By::kRole: return static_cast<uint32_t>(side.roles[id]) == value_;
    case By::kSuspicious:
      return side.index[id] >= bands_.back().lo || side.status[id] == NodeStatus::kError ||
             side.status[id] == NodeStatus::kUnreadable;
  }
  return false;
}

NodePage ListNodes(const UnitIndex& unit, Side side, const NodeFilter& filter, uint64_t offset,
                   uint64_t limit) {
  const SideIndex& nodes = unit.side(side);
  NodePage page;
  if (filter.NeedsPairs() && !unit.is_comparison()) return page;
  for (const uint32_t id : nodes.order) {
    if (!filter.Accepts(nodes, id)) continue;
    if (page.total >= offset && page.items.size() < limit) page.items.push_back({side, id});
    ++page.total;
  }
  return page;
}

std::optional<NodeRef> SeekNode(const UnitIndex& unit, NodeRef from, bool forward,
                                const NodeFilter& filter) {
  const SideIndex& nodes = unit.side(from.side);
  if (from.id >= nodes.size() || (filter.NeedsPairs() && !unit.is_comparison())) {
    return std::nullopt;
  }
  const auto step = forward ? int64_t{1} : int64_t{-1};
  const auto count = static_cast<int64_t>(nodes.size());
  for (int64_t at = nodes.position[from.id] + step; at >= 0 && at < count; at += step) {
    const uint32_t id = nodes.order[static_cast<size_t>(at)];
    if (filter.Accepts(nodes, id)) return NodeRef{from.side, id};
  }
  return std::nullopt;
}

std::vector<OverviewBin> Overview(const UnitIndex& unit, uint32_t bins) {
  const SideIndex& nodes = unit.target;
  const size_t count = nodes.size();
  bins = static_cast<uint32_t>(std::min<size_t>(bins, count));
  std::vector<OverviewBin> result(bins);
  for (size_t bin = 0; bin < bins; ++bin) {
    OverviewBin& out = result[bin];
    const size_t begin = bin * count / bins;
    const size_t end = (bin + 1) * count / bins;
    out.worst = std::nanf("");
    out.node = {Side::kTarget, nodes.order[begin]};
    out.status_id = out.overflow_id = out.unmatched_id = out.node.id;
    for (size_t at = begin; at < end; ++at) {
      const uint32_t id = nodes.order[at];
      const NodeStatus status = nodes.status[id];
      if (status != NodeStatus::kPass &&
          visfile::Severity(status) > visfile::Severity(out.status)) {
        out.status = status;
        out.status_id = id;
      }
      if (nodes.overflow[id] > out.overflow) {
        out.overflow = nodes.overflow[id];
        out.overflow_id = id;
      }
      if (unit.is_comparison() && nodes.partners[id] == graph::kNoNode) {
        if (out.unmatched == 0) out.unmatched_id = id;
        ++out.unmatched;
      }
      if (std::isnan(nodes.index[id])) continue;
      if (!(out.worst >= nodes.index[id])) {
        out.worst = nodes.index[id];
        out.node.id = id;
      }
    }
  }
  return result;
}

UnitCounts CountNodes(const UnitIndex& unit, std::span<const visfile::Band> bands) {
  UnitCounts counts;
  counts.bands.resize(bands.size());
  const SideIndex& target = unit.target;
  for (uint32_t id = 1; id < target.size(); ++id) {
    if (!std::isnan(target.index[id])) ++counts.bands[visfile::BandIndex(bands, target.index[id])];
    if (unit.is_comparison() && target.partners[id] == graph::kNoNode) ++counts.unmatched_target;
    counts.pass += target.status[id] == NodeStatus::kPass;
    counts.warning += target.status[id] == NodeStatus::kWarning;
    counts.error += target.status[id] == NodeStatus::kError;
    counts.unreadable += target.status[id] == NodeStatus::kUnreadable;
    counts.medium += target.overflow[id] == OverflowLevel::kMedium;
    counts.high += target.overflow[id] == OverflowLevel::kHigh;
    counts.critical += target.overflow[id] == OverflowLevel::kCritical;
    counts.culprits += target.roles[id] == Role::kCulprit;
    // What cannot be read may agree.
    counts.undecided +=
        target.roles[id] == Role::kUndecidable && target.status[id] != NodeStatus::kUnreadable;
  }
  for (uint32_t id = 1; id < unit.golden.size(); ++id) {
    if (unit.golden.partners[id] == graph::kNoNode) ++counts.unmatched_golden;
  }
  return counts;
}

}  // namespace msprobe::viewer
