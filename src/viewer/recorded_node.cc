#include "viewer/recorded_node.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace msprobe::viewer {

using formats::JsonKind;
using formats::JsonTape;
using formats::JsonToken;

namespace {

std::string TextOf(const JsonToken& token) {
  std::string text;
  switch (token.kind) {
    case JsonKind::kString:
      if (!formats::AppendUnescaped(token.raw(), &text)) text = token.raw();
      return text;
    case JsonKind::kTrue: return "True";
    case JsonKind::kFalse: return "False";
    case JsonKind::kNull: return "";
    case JsonKind::kNumber:
    case JsonKind::kObject:
    case JsonKind::kArray: return std::string(token.raw());
  }
  return text;
}

/// Calls take(key, index of the value) for the members of the object at `index`.
template <class Take>
void ForEachMember(const JsonTape& tape, uint32_t index, const Take& take) {
  if (tape[index].kind != JsonKind::kObject) return;
  for (uint32_t at = index + 1; at < tape[index].end; at = tape[at + 1].end) {
    take(TextOf(tape[at]), at + 1);
  }
}

template <class Take>
void ForEachElement(const JsonTape& tape, uint32_t index, const Take& take) {
  if (tape[index].kind != JsonKind::kArray) return;
  for (uint32_t at = index + 1; at < tape[index].end; at = tape[at].end) take(at);
}

/// Lists and objects in a field are rare; what they hold is shown as text.
void AppendValue(const JsonTape& tape, uint32_t index, std::string* text) {
  const JsonKind kind = tape[index].kind;
  if (kind != JsonKind::kArray && kind != JsonKind::kObject) {
    text->append(TextOf(tape[index]));
    return;
  }
  const bool is_list = kind == JsonKind::kArray;
  std::string_view separator = is_list ? "[" : "{";
  const auto separate = [&] { text->append(std::exchange(separator, ", ")); };
  ForEachElement(tape, index, [&](uint32_t at) {
    separate();
    AppendValue(tape, at, text);
  });
  ForEachMember(tape, index, [&](const std::string& key, uint32_t at) {
    separate();
    text->append("\"").append(key).append("\": ");
    AppendValue(tape, at, text);
  });
  if (separator != ", ") separate();
  text->push_back(is_list ? ']' : '}');
}

/// "Functional.linear.0.forward.input.0" of node "Functional.linear.0.forward" → "input.0".
std::string PlaceInNode(const std::string& key, std::string_view node) {
  if (key.size() > node.size() + 1 && key.starts_with(node) && key[node.size()] == '.') {
    return key.substr(node.size() + 1);
  }
  return key;
}

/// Fields are looked up one by one; a real value has about twenty.
constexpr size_t kMaxFields = 1000;

Status ReadValues(const JsonTape& tape, uint32_t index, std::string_view node, bool outputs,
                  RecordedNode* out) {
  bool too_many = false;
  ForEachMember(tape, index, [&](const std::string& key, uint32_t value) {
    RecordedValue& recorded = out->values.emplace_back();
    recorded.key = PlaceInNode(key, node);
    const bool parameter = recorded.key.find("parameters.") != std::string::npos;
    recorded.section = parameter ? "parameter" : outputs ? "output" : "input";
    ForEachMember(tape, value, [&](std::string field, uint32_t at) {
      if (recorded.fields.size() == kMaxFields) {
        too_many = true;
        return;
      }
      std::string text;
      AppendValue(tape, at, &text);
      recorded.fields.emplace_back(std::move(field), std::move(text));
    });
  });
  if (!too_many) return Status::Ok();
  return LimitExceededError(
      "a value of the node has more than " + std::to_string(kMaxFields) + " fields",
      "check that this is the right file");
}

/// {"output.0": "0:20 1:3"}; stands behind the values.
void ReadUlps(const JsonTape& tape, uint32_t index, RecordedNode* out) {
  std::unordered_map<std::string_view, RecordedValue*> by_key;
  for (RecordedValue& value : out->values) by_key.emplace(value.key, &value);
  ForEachMember(tape, index, [&](const std::string& key, uint32_t counts) {
    const auto value = by_key.find(key);
    if (value != by_key.end()) value->second->ulps = TextOf(tape[counts]);
  });
}

/// {"communications_type": …, "nodes_info": {"<rank>": [<index>, "<name>"]}}
void ReadPeers(const JsonTape& tape, uint32_t index, RecordedNode* out) {
  ForEachMember(tape, index, [&](const std::string& key, uint32_t value) {
    if (key != "nodes_info") return;
    ForEachMember(tape, value, [&](const std::string& rank, uint32_t info) {
      RecordedNode::Peer peer{rank, {}};
      ForEachElement(tape, info, [&](uint32_t at) { peer.name = TextOf(tape[at]); });
      out->peers.push_back(std::move(peer));
    });
  });
}

}  // namespace

const std::string* RecordedValue::Find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [field](const auto& entry) { return entry.first == field; });
  return found == fields.end() ? nullptr : &found->second;
}

bool IsRecordedField(std::string_view field) {
  constexpr std::array<std::string_view, 11> kFields = {
      "type", "dtype", "shape",         "Max",       "Min",   "Mean",
      "Norm", "md5",   "requires_grad", "data_name", "value",
  };
  return std::find(kFields.begin(), kFields.end(), field) != kFields.end();
}

Result<RecordedNode> ReadNode(const visfile::UnitSource& unit, visfile::Side side, uint32_t id) {
  MSPROBE_ASSIGN_OR_RETURN(std::string json, unit.NodeJson(side, id));
  return ParseNode(std::move(json), unit.index().side(side).names[id]);
}

Result<RecordedNode> ParseNode(std::string text, std::string_view name) {
  const size_t size = text.size();
  text.append(base::MappedFile::kPadding, '\0');  // what the parser may read behind the end
  JsonTape tape;
  MSPROBE_RETURN_IF_ERROR(tape.Parse(std::string_view(text).substr(0, size)));
  RecordedNode node;
  Status status;
  ForEachMember(tape, 0, [&](const std::string& key, uint32_t value) {
    const bool outputs = key == "output_data";
    if ((outputs || key == "input_data") && status.ok()) {
      status = ReadValues(tape, value, name, outputs, &node);
    }
    if (key == "stack_info") {
      ForEachElement(tape, value, [&](uint32_t at) { node.stack.push_back(TextOf(tape[at])); });
    }
    if (key == "msprobe") {
      ForEachMember(tape, value, [&](const std::string& field, uint32_t at) {
        if (field == "reason") node.reason = TextOf(tape[at]);
        if (field == "ulps") ReadUlps(tape, at, &node);
      });
    }
    if (key == "matched_distributed") ReadPeers(tape, value, &node);
  });
  MSPROBE_RETURN_IF_ERROR(std::move(status));
  return node;
}

std::string OutputShape(const visfile::UnitSource& unit, visfile::Side side, uint32_t id) {
  if (id == 0) return {};
  const visfile::SideIndex& index = unit.index().side(side);
  if (!index.shapes.empty()) return index.shape_texts[index.shapes[id]];
  const Result<RecordedNode> node = ReadNode(unit, side, id);
  if (!node.ok()) return {};
  for (const RecordedValue& value : node->values) {
    if (value.section != "output") continue;
    const std::string* shape = value.Find("shape");
    return shape == nullptr ? std::string() : *shape;
  }
  return {};
}

}  // namespace msprobe::viewer
