#include "app/inspect_json.h"

#include "formats/json/json_writer.h"

namespace msprobe::app {

namespace {

using formats::JsonWriter;

void WriteFiles(const UnitReport& unit, JsonWriter* json) {
  json->Key("files").BeginArray();
  for (const JsonFileReport& file : unit.files) {
    json->BeginObject().Key("name").String(file.name);
    json->Key("state").String(FileStateName(file.state));
    json->Key("bytes").UInt(file.bytes);
    if (file.state == FileState::kRepaired) json->Key("bytes_cut").UInt(file.bytes_cut);
    if (!file.problem.ok()) json->Key("problem").String(file.problem.ToString());
    json->EndObject();
  }
  json->EndArray();
}

void WriteCounts(const UnitReport& unit, JsonWriter* json) {
  const EntryCounts& entries = unit.entries;
  json->Key("framework").String(unit.framework);
  json->Key("task").String(unit.task);
  json->Key("level").String(unit.level);
  json->Key("has_statistics").Bool(unit.has_statistics);
  json->Key("has_md5").Bool(unit.has_checksums);
  json->Key("records").BeginObject();
  json->Key("total").UInt(entries.total());
  json->Key("module_forward").UInt(entries.module_forward);
  json->Key("module_backward").UInt(entries.module_backward);
  json->Key("api_forward").UInt(entries.api_forward);
  json->Key("api_backward").UInt(entries.api_backward);
  json->Key("parameters_grad").UInt(entries.parameters_grad);
  json->Key("other").UInt(entries.other);
  json->Key("damaged").UInt(entries.unreadable);
  json->Key("without_place").UInt(unit.without_place);
  json->EndObject();
  json->Key("tensors").UInt(unit.tensors);
  const TensorFileCounts& files = unit.tensor_files;
  json->Key("tensor_files").BeginObject();
  json->Key("referenced").UInt(files.referenced);
  json->Key("missing").UInt(files.missing);
  json->Key("damaged").UInt(files.damaged);
  json->Key("extra").UInt(files.extra);
  json->Key("bytes").UInt(files.bytes);
  json->EndObject();
  json->Key("tensor_problems").BeginArray();
  for (const Status& problem : unit.tensor_problems) json->String(problem.ToString());
  json->EndArray();
  json->Key("extra_files").BeginArray();
  for (const std::string& name : unit.extra_files) json->String(name);
  json->EndArray();
}

}  // namespace

std::string InspectJson(const std::vector<UnitReport>& units) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("units").BeginArray();
  for (const UnitReport& unit : units) {
    json.BeginObject().Key("label").String(unit.label);
    json.Key("directory").String(unit.directory.string());
    if (unit.status.ok()) {
      json.Key("error").Null();
    } else {
      json.Key("error").String(unit.status.ToString());
    }
    json.Key("damage").Bool(unit.has_damage());
    WriteFiles(unit, &json);
    if (unit.status.ok()) WriteCounts(unit, &json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

}  // namespace msprobe::app
