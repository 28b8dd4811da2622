#include <optional>
#include <string>

#include "formats/json/json_writer.h"
#include "report/first_places.h"
#include "report/run_report.h"
#include "report/summary_json.h"

namespace msprobe::report {

namespace {

using formats::JsonWriter;

void WritePlace(std::optional<int64_t> step, std::optional<int64_t> rank, JsonWriter* json) {
  json->Key("step");
  step ? json->Int(*step) : json->Null();
  json->Key("rank");
  rank ? json->Int(*rank) : json->Null();
}

void WriteDiverged(const DivergedNode& node, bool culprit, JsonWriter* json) {
  json->BeginObject().Key("name").String(node.name);
  WritePlace(node.step, node.rank, json);
  json->Key("role").String(compare::RoleName(node.role));
  json->Key("reason").String(node.reason);
  json->Key("error_in").Double(node.error_in);
  json->Key("error_out").Double(node.error_out);
  if (culprit) {
    json->Key("consequence").Bool(node.consequence);
    json->Key("source").String(node.source);
    json->Key("stack").BeginArray();
    for (const std::string& frame : node.stack) json->String(frame);
    json->EndArray();
  } else {
    json->Key("culprit");
    node.culprit.empty() ? json->Null() : json->String(node.culprit);
    json->Key("culprit_rank");
    node.culprit_rank ? json->Int(*node.culprit_rank) : json->Null();
  }
  json->EndObject();
}

void WriteNotCompared(const NotCompared& node, JsonWriter* json) {
  json->BeginObject().Key("name").String(node.name);
  json->Key("side").String(node.golden ? "golden" : "target");
  WritePlace(node.step, node.rank, json);
  json->Key("kind").String(NotComparedName(node.kind));
  json->Key("reason").String(node.reason);
  json->EndObject();
}

void WriteRows(const RunReport& report, JsonWriter* json) {
  json->Key("rows").BeginArray();
  for (const RowsFile& file : report.rows) {
    json->BeginObject();
    WritePlace(file.step, file.rank, json);
    json->Key("count").UInt(file.rows);
    json->Key("path").String(file.path.string());
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

std::string RunReportJson(const RunReport& report, double seconds, int exit_code) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("verdict").String(VerdictName(report.verdict));
  json.Key("exit_code").Int(exit_code);
  json.Key("seconds").Double(seconds);
  json.Key("culprits").BeginArray();
  for (const DivergedNode& node : report.culprits) WriteDiverged(node, true, &json);
  json.EndArray();
  if (const std::optional<PlacedNode> first = FirstDifference(report.units)) {
    json.Key("first_difference");
    WritePlaced(*first, &json);
  }
  json.Key("victims").BeginObject().Key("count").UInt(report.victims.size());
  json.Key("nodes").BeginArray();
  for (const DivergedNode& node : report.victims) WriteDiverged(node, false, &json);
  json.EndArray().EndObject();
  json.Key("counts");
  WriteTotals(report.units, &json);
  json.Key("not_compared").BeginArray();
  for (const NotCompared& node : report.not_compared) WriteNotCompared(node, &json);
  json.EndArray();
  WriteRows(report, &json);
  json.EndObject();
  return out;
}

}  // namespace msprobe::report
