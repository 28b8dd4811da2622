#include "compare/value_pairing.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

namespace msprobe::compare {

namespace {

using dump::Record;
using dump::Section;
using dump::Value;
using dump::ValueKind;

bool SamePlace(const Value& a, const Value& b) { return a.section == b.section && a.key == b.key; }

struct Place {
  Section section;
  std::string_view key;
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  size_t operator()(const Place& place) const {
    return std::hash<std::string_view>()(place.key) * 3 + static_cast<size_t>(place.section);
  }
};

void PairByKey(const Record& target, const Record& golden, std::vector<bool>* taken,
               std::vector<uint32_t>* partner) {
  std::unordered_map<Place, uint32_t, PlaceHash> places;
  for (uint32_t i = 0; i < golden.values.size(); ++i) {
    if (!(*taken)[i]) places.emplace(Place{golden.values[i].section, golden.values[i].key}, i);
  }
  for (uint32_t i = 0; i < target.values.size(); ++i) {
    if ((*partner)[i] != kNoValue) continue;
    const auto found = places.find({target.values[i].section, target.values[i].key});
    if (found == places.end()) continue;
    (*partner)[i] = found->second;
    (*taken)[found->second] = true;
    places.erase(found);
  }
}

void PairInOrder(const Record& target, const Record& golden, Section section,
                 std::vector<bool>* taken, std::vector<uint32_t>* partner) {
  uint32_t next = 0;
  const auto free_tensor = [&](uint32_t i) {
    const Value& value = golden.values[i];
    return !(*taken)[i] && value.section == section && value.kind == ValueKind::kTensor;
  };
  for (uint32_t i = 0; i < target.values.size(); ++i) {
    const Value& value = target.values[i];
    if ((*partner)[i] != kNoValue || value.section != section || value.kind != ValueKind::kTensor) {
      continue;
    }
    while (next < golden.values.size() && !free_tensor(next)) ++next;
    if (next == golden.values.size()) return;
    (*partner)[i] = next;
    (*taken)[next] = true;
  }
}

}  // namespace

void PairValues(const Record& target, const Record& golden, bool by_mapping, ValuePairs* pairs) {
  std::vector<uint32_t>& partner = pairs->golden_of_target;
  partner.assign(target.values.size(), kNoValue);
  pairs->golden_tensors_left = 0;
  uint32_t same = 0;  // nearly always all of them
  while (same < target.values.size() && same < golden.values.size() &&
         SamePlace(target.values[same], golden.values[same])) {
    partner[same] = same;
    ++same;
  }
  if (same == target.values.size() && same == golden.values.size()) return;
  std::vector<bool> taken(golden.values.size(), false);
  std::fill_n(taken.begin(), same, true);
  PairByKey(target, golden, &taken, &partner);
  PairInOrder(target, golden, Section::kInput, &taken, &partner);
  PairInOrder(target, golden, Section::kOutput, &taken, &partner);
  if (by_mapping) PairInOrder(target, golden, Section::kParameter, &taken, &partner);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i] && golden.values[i].kind == ValueKind::kTensor) ++pairs->golden_tensors_left;
  }
}

}  // namespace msprobe::compare
