#include "viewer/report_part.h"

#include <algorithm>
#include <string>

namespace msprobe::viewer {

using graph::kNoNode;
using visfile::SideIndex;

namespace {

uint32_t FindName(const SideIndex& side, std::string_view name) {
  const auto found = std::ranges::find(side.names, name);
  return found == side.names.end() ? kNoNode : static_cast<uint32_t>(found - side.names.begin());
}

/// The node, all below it and all around it, in execution order. Without a node the root alone.
std::vector<uint32_t> Chosen(const SideIndex& side, uint32_t node) {
  std::vector<uint32_t> ids;
  if (side.size() == 0) return ids;
  if (node == kNoNode) return {0};
  for (uint32_t id = side.parents[node]; id != kNoNode; id = side.parents[id]) ids.push_back(id);
  std::ranges::reverse(ids);
  std::vector<uint32_t> open{node};
  while (!open.empty()) {
    const uint32_t id = open.back();
    open.pop_back();
    ids.push_back(id);
    const auto children = side.children(id);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return ids;
}

/// New ids by old ones.
std::vector<uint32_t> Inverse(const std::vector<uint32_t>& ids, size_t size) {
  std::vector<uint32_t> inverse(size, kNoNode);
  for (size_t i = 0; i < ids.size(); ++i) inverse[ids[i]] = static_cast<uint32_t>(i);
  return inverse;
}

void Copy(const SideIndex& from, const std::vector<uint32_t>& ids,
          const std::vector<uint32_t>& new_ids, const std::vector<uint32_t>& new_partners,
          SideIndex* to) {
  to->Reserve(ids.size());
  for (const uint32_t old : ids) {
    const uint32_t id = to->Add(from.names[old]);
    if (from.parents[old] != kNoNode) to->parents[id] = new_ids[from.parents[old]];
    if (from.partners[old] != kNoNode) to->partners[id] = new_partners[from.partners[old]];
    to->kinds[id] = from.kinds[old];
    to->index[id] = from.index[old];
    to->status[id] = from.status[old];
    to->overflow[id] = from.overflow[old];
    to->roles[id] = from.roles[old];
    to->micro_steps[id] = from.micro_steps[old];
    to->places[id] = from.places[old];
    if (!from.shapes.empty()) to->shapes.push_back(from.shapes[old]);
  }
  to->shape_texts = from.shape_texts;
}

}  // namespace

bool ReportPart::Has(const visfile::UnitIndex& unit, std::string_view name) {
  return FindName(unit.target, name) != kNoNode || FindName(unit.golden, name) != kNoNode;
}

Result<std::shared_ptr<ReportPart>> ReportPart::Cut(
    std::shared_ptr<const visfile::UnitSource> whole, std::string_view name, float worst_band) {
  const visfile::UnitIndex& index = whole->index();
  uint32_t target = FindName(index.target, name);
  uint32_t golden = kNoNode;
  if (target != kNoNode) {
    golden = index.target.partners[target];
  } else {
    golden = FindName(index.golden, name);
    if (golden == kNoNode) {
      return NotFoundError("no node has this name", "give the whole name, as the page shows it",
                           std::string(name.substr(0, 200)));
    }
    target = index.golden.partners[golden];
  }
  std::shared_ptr<ReportPart> part(new ReportPart(std::move(whole)));
  part->targets_ = Chosen(index.target, target);
  part->goldens_ = Chosen(index.golden, golden);
  const std::vector<uint32_t> targets = Inverse(part->targets_, index.target.size());
  const std::vector<uint32_t> goldens = Inverse(part->goldens_, index.golden.size());
  visfile::UnitIndex& made = part->index_;
  made.step = index.step;
  made.rank = index.rank;
  made.micro_steps = index.micro_steps;
  Copy(index.target, part->targets_, targets, goldens, &made.target);
  Copy(index.golden, part->goldens_, goldens, targets, &made.golden);
  made.target.dump = index.target.dump;
  made.golden.dump = index.golden.dump;
  made.target.Complete(worst_band);
  made.golden.Complete(worst_band);
  return part;
}

}  // namespace msprobe::viewer
