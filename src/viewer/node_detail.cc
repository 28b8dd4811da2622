#include "viewer/node_detail.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/numbers.h"
#include "viewer/answers.h"
#include "viewer/node_label.h"

namespace msprobe::viewer {

using formats::JsonWriter;
using graph::kNoNode;
using visfile::Side;
using visfile::SideIndex;

namespace {

/// Fields that must agree exactly; Max … Norm are judged by their metrics.
constexpr std::array<std::string_view, 5> kExactFields = {"type", "dtype", "shape", "md5",
                                                          "requires_grad"};

void WriteSideOfValue(const RecordedValue* value, JsonWriter* json) {
  if (value == nullptr) {
    json->Null();
    return;
  }
  json->BeginObject();
  for (const auto& [field, text] : value->fields) {
    if (IsRecordedField(field) && !(field == "data_name" && text == "-1")) {
      json->Key(field).String(text);
    }
  }
  json->EndObject();
}

void WriteDiffers(const RecordedValue& target, const RecordedValue& golden, JsonWriter* json) {
  json->Key("differs").BeginArray();
  for (const auto& [field, text] : target.fields) {
    const std::string* t = &text;
    const std::string* g = IsRecordedField(field) ? golden.Find(field) : nullptr;
    if (g == nullptr || *t == *g) continue;
    const bool exact =
        std::find(kExactFields.begin(), kExactFields.end(), field) != kExactFields.end();
    bool differs = exact || field == "value";
    if (!exact && !differs && field != "data_name") {
      const std::optional<double> a = base::ParseDouble(*t);
      const std::optional<double> b = base::ParseDouble(*g);
      // A difference that a reader would see in the first digits.
      differs = !a || !b || !(std::abs(*a - *b) <= 1e-3 * std::abs(*b));
    }
    if (differs) json->String(field);
  }
  json->EndArray();
}

void WriteValue(const RecordedValue* target, const RecordedValue* golden, JsonWriter* json) {
  const RecordedValue& shown = target != nullptr ? *target : *golden;
  json->BeginObject();
  json->Key("key").String(shown.key);
  json->Key("section").String(shown.section);
  json->Key("target");
  WriteSideOfValue(target, json);
  json->Key("golden");
  WriteSideOfValue(golden, json);
  json->Key("metrics").BeginObject();
  std::string_view reason;
  std::string_view status;
  if (target != nullptr) {
    for (const auto& [field, text] : target->fields) {
      if (IsRecordedField(field)) continue;
      if (field == "Reason") {
        reason = text;
      } else if (field == "Err_message") {
        if (text != "[]") reason = text;
      } else if (field == "Result") {
        status = text == "Different" ? std::string_view("error") : std::string_view(text);
      } else if (field != "Requires_grad Consistent") {
        json->Key(field).String(text);
      }
    }
  }
  json->EndObject();
  json->Key("status").String(status);
  json->Key("reason").String(reason);
  if (target != nullptr && !target->ulps.empty()) json->Key("ulps").String(target->ulps);
  if (target != nullptr && golden != nullptr) WriteDiffers(*target, *golden, json);
  json->EndObject();
}

std::pair<std::string_view, std::string_view> PlaceOf(const RecordedValue& value) {
  return {value.section, value.key};
}

/// Values of both sides face to face: equal places pair, the rest keep their order.
void WriteValues(const RecordedNode* target, const RecordedNode* golden, JsonWriter* json) {
  static const RecordedNode kNothing;
  const auto& left = (target != nullptr ? target : &kNothing)->values;
  const auto& right = (golden != nullptr ? golden : &kNothing)->values;
  std::multimap<std::pair<std::string_view, std::string_view>, const RecordedValue*> free;
  for (const RecordedValue& value : right) free.emplace(PlaceOf(value), &value);
  std::set<const RecordedValue*> used;
  json->Key("values").BeginArray();
  for (const RecordedValue& value : left) {
    const auto [partner, end] = free.equal_range(PlaceOf(value));
    const RecordedValue* found = partner == end ? nullptr : partner->second;
    if (found != nullptr) {
      used.insert(found);
      free.erase(partner);
    }
    WriteValue(&value, found, json);
  }
  for (const RecordedValue& value : right) {
    if (!used.contains(&value)) WriteValue(nullptr, &value, json);
  }
  json->EndArray();
}

void WritePath(const SideIndex& side, uint32_t id, JsonWriter* json) {
  std::vector<uint32_t> chain;
  for (uint32_t at = id; at != kNoNode && chain.size() <= side.size(); at = side.parents[at]) {
    chain.push_back(at);
  }
  json->Key("path").BeginArray();
  for (size_t i = chain.size(); i-- > 0;) {
    const uint32_t node = chain[i];
    const std::string_view parent =
        side.parents[node] == kNoNode ? std::string_view() : side.names[side.parents[node]];
    json->BeginObject().Key("id").UInt(node);
    json->Key("label").String(LabelOf(side.names[node], parent).label).EndObject();
  }
  json->EndArray();
}

/// Adds what comparing a pair made by hand has found.
void AddMetrics(const PairVerdict& verdict, RecordedNode* target) {
  target->reason = verdict.reason;
  for (RecordedValue& value : target->values) {
    const auto found =
        std::ranges::find_if(verdict.metrics.values, [&value](const RecordedValue& metrics) {
          return metrics.key == value.key && metrics.section == value.section;
        });
    if (found == verdict.metrics.values.end()) continue;
    std::erase_if(value.fields, [](const auto& field) { return !IsRecordedField(field.first); });
    value.fields.insert(value.fields.end(), found->fields.begin(), found->fields.end());
    value.ulps = found->ulps;
  }
}

void WriteStack(std::string_view key, const RecordedNode* node, JsonWriter* json) {
  json->Key(key).BeginArray();
  if (node != nullptr) {
    for (const std::string& frame : node->stack) json->String(frame);
  }
  json->EndArray();
}

}  // namespace

Status WriteDetail(const visfile::UnitSource& unit, Side side, uint32_t id,
                   const std::function<int64_t(int64_t)>& unit_of_rank,
                   const PairVerdict* hand_made, JsonWriter* json) {
  const SideIndex& own = unit.index().side(side);
  const Side other_side = side == Side::kTarget ? Side::kGolden : Side::kTarget;
  const uint32_t partner = own.partners[id];
  MSPROBE_ASSIGN_OR_RETURN(RecordedNode node, ReadNode(unit, side, id));
  RecordedNode other;
  const bool has_partner = partner < unit.index().side(other_side).size();
  if (has_partner) {
    MSPROBE_ASSIGN_OR_RETURN(other, ReadNode(unit, other_side, partner));
  }
  if (hand_made != nullptr && has_partner) {
    AddMetrics(*hand_made, side == Side::kTarget ? &node : &other);
  }
  const RecordedNode* partner_node = has_partner ? &other : nullptr;
  const RecordedNode* target = side == Side::kTarget ? &node : partner_node;
  const RecordedNode* golden = side == Side::kTarget ? partner_node : &node;

  json->BeginObject();
  json->Key("node");
  WriteItem(unit.index(), {side, id}, json);
  json->Key("cls").String(LabelOf(own.names[id], {}).cls);
  json->Key("dir").String(LabelOf(own.names[id], {}).dir);
  json->Key("micro").Int(own.micro_steps[id]);
  json->Key("reason").String(target != nullptr && !target->reason.empty() ? target->reason
                                                                          : node.reason);
  json->Key("partner");
  if (has_partner) {
    json->BeginObject().Key("id").UInt(partner);
    json->Key("name").String(unit.index().side(other_side).names[partner]).EndObject();
  } else {
    json->Null();
  }
  WritePath(own, id, json);
  json->Key("stack").BeginObject();
  WriteStack("target", target, json);
  WriteStack("golden", golden, json);
  json->EndObject();
  WriteValues(target, golden, json);
  json->Key("peers").BeginArray();
  for (const RecordedNode::Peer& peer : node.peers) {
    const std::optional<uint64_t> rank = base::ParseUnsigned(peer.rank);
    json->BeginObject().Key("rank").String(peer.rank).Key("name").String(peer.name);
    json->Key("u").Int(rank ? unit_of_rank(static_cast<int64_t>(*rank)) : -1).EndObject();
  }
  json->EndArray();
  json->EndObject();
  return Status::Ok();
}

}  // namespace msprobe::viewer
