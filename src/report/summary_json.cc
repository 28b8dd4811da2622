#include "report/summary_json.h"

#include <cmath>

#include "formats/json/json_writer.h"
#include "report/counts_table.h"
#include "report/first_places.h"

namespace msprobe::report {

namespace {

using formats::JsonWriter;

void WriteSide(const char* name, const SideCounts& counts, JsonWriter* json) {
  json->Key(name).BeginObject();
  json->Key("nodes").UInt(counts.nodes);
  json->Key("matched").UInt(counts.matched);
  json->Key("unmatched").UInt(counts.unmatched_total());
  json->Key("unmatched_by_reason").BeginObject();
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (counts.unmatched[i] == 0) continue;
    json->Key(graph::MatchReasonText(static_cast<graph::MatchReason>(i))).UInt(counts.unmatched[i]);
  }
  json->EndObject().EndObject();
}

void WriteMembers(const ListedNode& node, JsonWriter* json) {
  json->Key("name").String(node.name);
  json->Key("index").Double(node.index);  // null where there is none
  json->Key("status").String(compare::NodeStatusName(node.status));
  json->Key("role").String(compare::RoleName(node.role));
  json->Key("reason").String(node.reason);
  json->Key("source").String(node.source);
}

void WriteNode(const ListedNode& node, JsonWriter* json) {
  json->BeginObject();
  WriteMembers(node, json);
  json->EndObject();
}

void WritePlace(const UnitSummary& unit, JsonWriter* json) {
  json->Key("step");
  unit.step ? json->Int(*unit.step) : json->Null();
  json->Key("rank");
  unit.rank ? json->Int(*unit.rank) : json->Null();
}

void WriteNodes(const char* name, const std::vector<ListedNode>& nodes, JsonWriter* json) {
  json->Key(name).BeginArray();
  for (const ListedNode& node : nodes) WriteNode(node, json);
  json->EndArray();
}

void WriteBands(const UnitSummary& summary, JsonWriter* json) {
  json->Key("bands").BeginArray();
  for (const uint64_t count : summary.bands) json->UInt(count);
  json->EndArray();
}

/// What each of several modes found: their bands do not add up.
void WriteModes(const std::vector<UnitSummary>& modes, JsonWriter* json) {
  json->Key("by_mode").BeginArray();
  for (const UnitSummary& mode : modes) {
    json->BeginObject().Key("mode").String(compare::CompareModeName(mode.mode));
    WriteBands(mode, json);
    json->Key("nothing_to_compare").UInt(mode.without_index).EndObject();
  }
  json->EndArray();
}

/// `modes`: of TotalsByMode().
void WriteCounts(const UnitSummary& summary, const std::vector<UnitSummary>& modes,
                 JsonWriter* json) {
  json->Key("compared").Bool(summary.compared);
  if (!summary.compared) {
    json->Key("target").BeginObject().Key("nodes").UInt(summary.target.nodes).EndObject();
  } else {
    json->Key("mode");
    modes.size() > 1 ? json->Null() : json->String(compare::CompareModeName(modes.front().mode));
    WriteSide("target", summary.target, json);
    WriteSide("golden", summary.golden, json);
    if (summary.lowest_confidence < 1) {
      json->Key("lowest_confidence").Double(std::round(100 * summary.lowest_confidence) / 100);
    }
    json->Key("mismatched").UInt(summary.mismatched);
    if (modes.size() > 1) {
      json->Key("bands").Null();
      WriteModes(modes, json);
    } else {
      WriteBands(summary, json);
    }
    json->Key("nothing_to_compare").UInt(summary.without_index);
    json->Key("left_out").UInt(summary.left_out);
    json->Key("errors").UInt(summary.errors);
    json->Key("warnings").UInt(summary.warnings);
    json->Key("unreadable_tensors").UInt(summary.unreadable_tensors);
    json->Key("suspicious").UInt(summary.suspect_count);
    json->Key("culprits").UInt(summary.culprit_count);
  }
  json->Key("unreadable_records").UInt(summary.unreadable_records);
  json->Key("overflow").BeginObject();
  json->Key("medium").UInt(summary.overflow[1]);
  json->Key("high").UInt(summary.overflow[2]);
  json->Key("critical").UInt(summary.overflow[3]);
  json->EndObject();
}

void WriteUnit(const UnitSummary& unit, JsonWriter* json) {
  json->BeginObject().Key("label").String(unit.label);
  WritePlace(unit, json);
  json->Key("seconds").Double(unit.seconds);
  json->Key("error");
  unit.status.ok() ? json->Null() : json->String(unit.status.ToString());
  if (unit.status.ok()) {
    json->Key("output").String(unit.output.string());
    WriteCounts(unit, TotalsByMode({&unit, 1}), json);
    WriteNodes("first_culprits", unit.culprits, json);
    WriteNodes("first_suspicious", unit.suspects, json);
    if (unit.first_difference) {
      json->Key("first_difference");
      WriteNode(*unit.first_difference, json);
    }
  }
  json->EndObject();
}

}  // namespace

void WritePlaced(const PlacedNode& placed, formats::JsonWriter* json) {
  json->BeginObject();
  WritePlace(*placed.unit, json);
  WriteMembers(*placed.node, json);
  json->EndObject();
}

void WriteTotals(std::span<const UnitSummary> units, formats::JsonWriter* json) {
  UnitSummary total;
  for (const UnitSummary& unit : units) AddCounts(unit, &total);
  json->BeginObject();
  WriteCounts(total, TotalsByMode(units), json);
  json->EndObject();
}

std::string SummaryJson(std::span<const UnitSummary> units, double seconds, int exit_code) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("exit_code").Int(exit_code);
  json.Key("seconds").Double(seconds);
  json.Key("total");
  WriteTotals(units, &json);
  json.Key("first_culprits").BeginArray();
  for (const PlacedNode& placed : FirstCulprits(units)) WritePlaced(placed, &json);
  json.EndArray();
  if (const std::optional<PlacedNode> difference = FirstDifference(units)) {
    json.Key("first_difference");
    WritePlaced(*difference, &json);
  }
  json.Key("units").BeginArray();
  for (const UnitSummary& unit : units) WriteUnit(unit, &json);
  json.EndArray().EndObject();
  return out;
}

}  // namespace msprobe::report
