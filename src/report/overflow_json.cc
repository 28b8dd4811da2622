#include "formats/json/json_writer.h"
#include "report/overflow_report.h"
#include "report/unit_summary.h"

namespace msprobe::report {

namespace {

using formats::JsonWriter;
using graph::Finiteness;

std::string_view FinitenessWord(Finiteness value) {
  switch (value) {
    case Finiteness::kFinite: return "finite";
    case Finiteness::kMasked: return "-Inf only";
    case Finiteness::kInfinite: return "Inf";
    case Finiteness::kNaN: return "NaN";
  }
  return "";
}

void WriteEvent(const graph::OverflowEvent& event, JsonWriter* json) {
  json->Key("name").String(event.name);
  json->Key("value").String(event.key);
  json->Key("inputs").String(FinitenessWord(event.input));
  json->Key("outputs").String(FinitenessWord(event.output));
  json->Key("source").String(event.source.empty() ? std::string() : SourceLine(event.source));
}

void WriteRank(const graph::RankOverflow& rank, JsonWriter* json) {
  json->BeginObject().Key("rank").Int(rank.rank);
  json->Key("origin").String(graph::OverflowOriginText(rank.origin));
  WriteEvent(rank.first, json);
  json->Key("communications_before").UInt(rank.clock);
  json->Key("reached_ranks").UInt(rank.reached);
  json->Key("from_rank");
  rank.from_rank >= 0 ? json->Int(rank.from_rank) : json->Null();
  json->Key("through").String(rank.through);
  json->Key("not_dumped").BeginArray();
  for (const int64_t other : rank.not_dumped) json->Int(other);
  json->EndArray().EndObject();
}

void WriteEvents(const char* name, const std::vector<graph::OverflowEvent>& events,
                 JsonWriter* json) {
  json->Key(name).BeginArray();
  for (const graph::OverflowEvent& event : events) {
    json->BeginObject();
    WriteEvent(event, json);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

std::string OverflowJson(const OverflowReport& report, int exit_code) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("exit_code").Int(exit_code);
  json.Key("seconds").Double(report.seconds);
  const bool whole = report.failures.empty() && report.unreadable_records == 0;
  json.Key("verdict").String(report.found ? "overflow" : whole ? "none" : "incomplete");
  json.Key("step");
  report.found&& report.step ? json.Int(*report.step) : json.Null();
  json.Key("first");
  report.found ? WriteRank(report.first(), &json) : static_cast<void>(json.Null());
  WriteEvents("nodes_on_first_rank", report.events, &json);
  WriteEvents("later_sources_on_first_rank", report.later_sources, &json);
  json.Key("hops").BeginArray();
  for (const graph::OverflowHop& hop : report.chain.hops) {
    json.BeginObject().Key("through").String(hop.through).Key("from").Int(hop.from);
    json.Key("to").BeginArray();
    for (const int64_t rank : hop.to) json.Int(rank);
    json.EndArray().EndObject();
  }
  json.EndArray().Key("ranks").BeginArray();
  for (const graph::RankOverflow& rank : report.chain.ranks) WriteRank(rank, &json);
  json.EndArray();
  json.Key("order_is_contradictory").Bool(report.chain.contradictory);
  json.Key("read").BeginObject();
  json.Key("dumps").UInt(report.ranks).Key("records").UInt(report.nodes);
  json.Key("steps").UInt(report.steps_read).Key("steps_there").UInt(report.steps);
  json.Key("masked_records").UInt(report.masked_records);
  json.Key("unreadable_records").UInt(report.unreadable_records).EndObject();
  json.Key("failed").BeginArray();
  for (const OverflowReport::Failure& failure : report.failures) {
    json.BeginObject().Key("label").String(failure.label);
    json.Key("error").String(failure.status.ToString()).EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

}  // namespace msprobe::report
