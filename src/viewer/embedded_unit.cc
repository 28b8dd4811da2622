#include "viewer/embedded_unit.h"

#include <algorithm>

#include "viewer/answers.h"
#include "viewer/node_detail.h"
#include "viewer/node_lists.h"

namespace msprobe::viewer {

using formats::JsonWriter;
using visfile::Side;
using visfile::SideIndex;

namespace {

const visfile::UnitSource& Shown(const LoadedUnit& unit, const ReportPart* part) {
  if (part != nullptr) return *part;
  return *unit.source;
}

void WriteBriefs(const visfile::UnitSource& unit, Side which, JsonWriter* json) {
  const SideIndex& side = unit.index().side(which);
  json->BeginArray();
  for (const uint32_t id : side.order) {
    json->BeginObject();
    WriteBriefMembers(unit, which, id, json);
    json->Key("parent").Int(side.parents[id] == graph::kNoNode ? -1 : int64_t{side.parents[id]});
    json->EndObject();
  }
  json->EndArray();
}

/// All nodes of a side; those that a reader looks at first come first.
std::vector<uint32_t> BySuspicion(const SideIndex& side, const NodeFilter& suspicious) {
  std::vector<uint32_t> ids(side.order);
  std::ranges::stable_partition(ids, [&](uint32_t id) {
    return suspicious.Accepts(side, id) || side.roles[id] != compare::Role::kNone ||
           side.partners[id] == graph::kNoNode;
  });
  return ids;
}

Status WriteDetails(const LoadedUnit& unit, const ReportPart* part, Side which,
                    const NodeFilter& suspicious,
                    const std::function<int64_t(int64_t)>& unit_of_rank, DetailBudget* budget,
                    JsonWriter* json) {
  const visfile::UnitSource& shown = Shown(unit, part);
  const SideIndex& side = shown.index().side(which);
  std::string detail;
  json->BeginObject();
  for (const uint32_t id : BySuspicion(side, suspicious)) {
    if (budget->bytes_left == 0) {
      ++budget->left_out;
      continue;
    }
    detail.clear();
    JsonWriter writer(&detail);
    const uint32_t whole_id = part == nullptr ? id : part->Original(which, id);
    MSPROBE_RETURN_IF_ERROR(WriteDetail(shown, which, id, unit_of_rank,
                                        unit.hand.Find(which, whole_id, unit.source->index()),
                                        &writer));
    budget->bytes_left -= std::min<uint64_t>(budget->bytes_left, detail.size());
    json->Key(std::to_string(id)).Raw(detail);
  }
  json->EndObject();
  return Status::Ok();
}

}  // namespace

Status AppendEmbeddedUnit(const LoadedUnit& unit, const ReportPart* part, compare::CompareMode mode,
                          const std::vector<visfile::UnitEntry>& units, DetailBudget* budget,
                          std::string* out) {
  const visfile::UnitSource& shown = Shown(unit, part);
  const visfile::UnitIndex& index = unit.source->index();
  const std::vector<visfile::Band> bands = visfile::BandsOf(mode);
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter suspicious, NodeFilter::Parse("", "", bands));
  const auto unit_of_rank = [&](int64_t rank) { return UnitOf(units, index.step, rank); };
  JsonWriter json(out);
  json.BeginObject().Key("target");
  WriteBriefs(shown, Side::kTarget, &json);
  json.Key("golden");
  WriteBriefs(shown, Side::kGolden, &json);
  json.Key("details").BeginObject().Key("t");
  MSPROBE_RETURN_IF_ERROR(
      WriteDetails(unit, part, Side::kTarget, suspicious, unit_of_rank, budget, &json));
  json.Key("g");
  MSPROBE_RETURN_IF_ERROR(
      WriteDetails(unit, part, Side::kGolden, suspicious, unit_of_rank, budget, &json));
  json.EndObject().EndObject();
  return Status::Ok();
}

}  // namespace msprobe::viewer
