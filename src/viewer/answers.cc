#include "viewer/answers.h"

#include <algorithm>
#include <cmath>

#include "viewer/node_label.h"
#include "viewer/recorded_node.h"

namespace msprobe::viewer {

using formats::JsonWriter;
using graph::kNoNode;
using visfile::Side;
using visfile::SideIndex;
using visfile::UnitIndex;

namespace {

std::string_view KindWord(graph::NodeKind kind, uint32_t id) {
  if (id == 0) return "root";
  switch (kind) {
    case graph::NodeKind::kModule: return "module";
    case graph::NodeKind::kApi: return "api";
    case graph::NodeKind::kApiCollection: return "collection";
  }
  return "";
}

std::string_view StatusWord(const UnitIndex& unit, compare::NodeStatus status) {
  return unit.is_comparison() ? compare::NodeStatusName(status) : std::string_view();
}

/// Of what passes nothing is told.
std::string_view TroubleWord(const UnitIndex& unit, compare::NodeStatus status) {
  const bool fine = visfile::Severity(status) <= visfile::Severity(compare::NodeStatus::kPass);
  return fine ? std::string_view() : StatusWord(unit, status);
}

std::string_view RoleWord(compare::Role role) {
  return role == compare::Role::kNone ? std::string_view() : compare::RoleName(role);
}

NodeLabel LabelIn(const SideIndex& side, uint32_t id) {
  const uint32_t parent = side.parents[id];
  return LabelOf(side.names[id], parent == kNoNode ? std::string_view() : side.names[parent]);
}

/// What Brief and Item have in common.
void WriteVerdict(const UnitIndex& unit, const SideIndex& side, uint32_t id, JsonWriter* json) {
  json->Key("kind").String(KindWord(side.kinds[id], id));
  json->Key("index");
  WriteIndex(side.index[id], json);
  json->Key("worst");
  WriteIndex(side.worst[id], json);
  json->Key("status").String(StatusWord(unit, side.status[id]));
  json->Key("overflow").String(OverflowWord(side.overflow[id]));
  json->Key("role").String(RoleWord(side.roles[id]));
}

}  // namespace

std::string_view SideLetter(Side side) { return side == Side::kTarget ? "t" : "g"; }

std::string_view OverflowWord(graph::OverflowLevel level) {
  switch (level) {
    case graph::OverflowLevel::kNone: return "";
    case graph::OverflowLevel::kMedium: return "medium";
    case graph::OverflowLevel::kHigh: return "high";
    case graph::OverflowLevel::kCritical: return "critical";
  }
  return "";
}

void WriteIndex(float index, JsonWriter* json) {
  // Six decimals are more than a colour needs and keep the answers short.
  if (std::isnan(index))
    json->Null();
  else
    json->Double(std::round(static_cast<double>(index) * 1e6) / 1e6);
}

int64_t UnitOf(const std::vector<visfile::UnitEntry>& units, std::optional<int64_t> step,
               int64_t rank) {
  const auto found = std::ranges::find_if(units, [&](const visfile::UnitEntry& entry) {
    return entry.step == step && entry.rank == rank;
  });
  return found == units.end() ? -1 : found - units.begin();
}

void WriteOptional(std::string_view key, const std::optional<int64_t>& value, JsonWriter* json) {
  json->Key(key);
  if (value)
    json->Int(*value);
  else
    json->Null();
}

void WriteBriefMembers(const visfile::UnitSource& source, Side which, uint32_t id,
                       JsonWriter* json) {
  const UnitIndex& unit = source.index();
  const SideIndex& side = unit.side(which);
  const NodeLabel label = LabelIn(side, id);
  json->Key("id").UInt(id);
  json->Key("name").String(side.names[id]);
  json->Key("label").String(label.label);
  json->Key("cls").String(label.cls);
  json->Key("dir").String(label.dir);
  json->Key("shape").String(OutputShape(source, which, id));
  json->Key("n").UInt(side.children(id).size());
  json->Key("inside").UInt(side.inside[id]);
  json->Key("overflow_inside").String(OverflowWord(side.overflow_inside[id]));
  json->Key("overflow_count").UInt(side.overflow_count[id]);
  const std::string_view status = TroubleWord(unit, side.status_inside[id]);
  json->Key("status_inside").String(status);
  json->Key("status_count").UInt(status.empty() ? 0 : side.status_count[id]);
  json->Key("micro").Int(side.micro_steps[id]);
  json->Key("partner");
  if (side.partners[id] == kNoNode)
    json->Null();
  else
    json->UInt(side.partners[id]);
  json->Key("order").UInt(side.position[id]);
  WriteVerdict(unit, side, id, json);
}

namespace {

void WriteBrief(const visfile::UnitSource& source, Side which, uint32_t id, JsonWriter* json) {
  if (id == kNoNode) {
    json->Null();
    return;
  }
  json->BeginObject();
  WriteBriefMembers(source, which, id, json);
  json->EndObject();
}

}  // namespace

void WriteRow(const visfile::UnitSource& unit, RowIds row, JsonWriter* json) {
  const float index = row.target == kNoNode || row.golden == kNoNode
                          ? std::nanf("")
                          : unit.index().target.index[row.target];
  json->BeginObject();
  json->Key("n").UInt(CountAlignedChildren(unit.index(), row));
  json->Key("index");
  WriteIndex(index, json);
  json->Key("t");
  WriteBrief(unit, Side::kTarget, row.target, json);
  json->Key("g");
  WriteBrief(unit, Side::kGolden, row.golden, json);
  json->EndObject();
}

void WriteOverviewBin(const UnitIndex& unit, const OverviewBin& bin, JsonWriter* json) {
  json->BeginObject().Key("worst");
  WriteIndex(bin.worst, json);
  json->Key("unmatched").UInt(bin.unmatched).Key("unmatched_id").UInt(bin.unmatched_id);
  json->Key("side").String(SideLetter(bin.node.side)).Key("id").UInt(bin.node.id);
  json->Key("status").String(TroubleWord(unit, bin.status)).Key("status_id").UInt(bin.status_id);
  json->Key("overflow").String(OverflowWord(bin.overflow));
  json->Key("overflow_id").UInt(bin.overflow_id).EndObject();
}

void WriteItem(const UnitIndex& unit, NodeRef node, JsonWriter* json) {
  const SideIndex& side = unit.side(node.side);
  json->BeginObject();
  json->Key("side").String(SideLetter(node.side));
  json->Key("id").UInt(node.id);
  json->Key("name").String(side.names[node.id]);
  json->Key("label").String(LabelIn(side, node.id).label);
  WriteVerdict(unit, side, node.id, json);
  json->EndObject();
}

namespace {

/// The run in at most 48 parts, a letter for the worst in each by what colours can mean.
struct Strips {
  std::string index;
  std::string status;
  std::string overflow;
};

char StatusLetter(compare::NodeStatus status) {
  switch (status) {
    case compare::NodeStatus::kWarning: return 'w';
    case compare::NodeStatus::kUnreadable: return 'r';
    case compare::NodeStatus::kError: return 'e';
    case compare::NodeStatus::kPass:
    case compare::NodeStatus::kUnmatched: return '.';
  }
  return '.';
}

Strips StripsOf(const UnitIndex& unit, std::span<const visfile::Band> bands) {
  constexpr uint32_t kParts = 48;
  Strips strips;
  // Grey is what is fine but for nodes without a partner.
  const auto add = [](std::string* strip, char letter, bool fine, const OverviewBin& bin) {
    strip->push_back(fine && bin.unmatched > 0 ? 'u' : letter);
  };
  for (const OverviewBin& bin : Overview(unit, kParts)) {
    const size_t band = std::isnan(bin.worst) ? 0 : visfile::BandIndex(bands, bin.worst);
    const char letter = std::isnan(bin.worst) ? '.' : static_cast<char>('0' + band);
    add(&strips.index, letter, band == 0, bin);
    const char status = StatusLetter(bin.status);
    add(&strips.status, status, status == '.', bin);
    strips.overflow.push_back(".mhc"[static_cast<size_t>(bin.overflow)]);
  }
  return strips;
}

void WriteStrip(std::string_view key, const std::string& strip, JsonWriter* json) {
  if (strip.find_first_not_of('.') != std::string::npos) json->Key(key).String(strip);
}

}  // namespace

void WriteUnit(const UnitIndex& unit, std::span<const visfile::Band> bands, JsonWriter* json) {
  const UnitCounts counts = CountNodes(unit, bands);
  json->BeginObject();
  WriteOptional("step", unit.step, json);
  WriteOptional("rank", unit.rank, json);
  json->Key("micro_steps").Int(unit.micro_steps);
  json->Key("nodes").BeginArray().UInt(unit.target.size()).UInt(unit.golden.size()).EndArray();
  json->Key("worst");
  WriteIndex(unit.target.size() > 0 ? unit.target.worst[0] : std::nanf(""), json);
  json->Key("culprits").UInt(counts.culprits);
  json->Key("undecided").UInt(counts.undecided);
  const Strips strips = StripsOf(unit, bands);
  json->Key("strip").String(strips.index);
  WriteStrip("strip_status", strips.status, json);
  WriteStrip("strip_overflow", strips.overflow, json);
  if (!unit.target.dump.empty()) {
    json->Key("from").BeginArray().String(unit.target.dump);
    if (unit.golden.size() > 0) json->String(unit.golden.dump);
    json->EndArray();
  }
  json->Key("counts").BeginObject();
  json->Key("bands").BeginArray();
  for (const uint64_t count : counts.bands) json->UInt(count);
  json->EndArray();
  json->Key("unmatched").BeginArray().UInt(counts.unmatched_target).UInt(counts.unmatched_golden);
  json->EndArray();
  json->Key("pass").UInt(counts.pass);
  json->Key("warning").UInt(counts.warning);
  json->Key("error").UInt(counts.error);
  json->Key("unreadable").UInt(counts.unreadable);
  json->Key("overflow").BeginObject();
  json->Key("medium").UInt(counts.medium);
  json->Key("high").UInt(counts.high);
  json->Key("critical").UInt(counts.critical);
  json->EndObject().EndObject().EndObject();
}

}  // namespace msprobe::viewer
