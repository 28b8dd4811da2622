#include "compare/scalar_argument.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/numbers.h"
#include "base/shortened.h"
#include "compare/verdict.h"

namespace msprobe::compare {

namespace {

using dump::Value;

/// Arguments that say where and how results lie, not what they are.
bool NamesAPlace(std::string_view key) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "async_op", "copy",          "device",       "dtype",     "inplace",
      "layout",   "memory_format", "non_blocking", "out_dtype", "pin_memory"};
  return std::ranges::find(kNames, key.substr(key.rfind('.') + 1)) != kNames.end();
}

/// "cuda:0", "torch.float16", "bfloat16" as plain text.
bool NamesAPlaceInText(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kDTypes = {"torch.", "mindspore.", "float",
                                                              "bfloat", "int"};
  static constexpr std::array<std::string_view, 6> kDevices = {"cpu", "cuda", "npu",
                                                               "xpu", "mps",  "meta"};
  return std::ranges::any_of(kDTypes, [&](auto start) { return text.starts_with(start); }) ||
         std::ranges::find(kDevices, text.substr(0, text.find(':'))) != kDevices.end();
}

bool IsPlain(std::string_view type) {
  return type == "int" || type == "float" || type == "str" || type == "bool" ||
         type.ends_with("ReduceOp");
}

/// The first scalar argument of `record` whose place `other` leaves empty.
const Value* ArgumentMissingIn(const dump::Record& other, const dump::Record& record) {
  for (const Value& value : record.values) {
    if (value.section != dump::Section::kInput || value.kind != dump::ValueKind::kScalar) continue;
    if (!IsPlain(value.type) || NamesAPlace(value.key)) continue;
    const auto same = std::ranges::find(other.values, value.key, &Value::key);
    if (same == other.values.end() || same->kind == dump::ValueKind::kNull) return &value;
  }
  return nullptr;
}

constexpr size_t kLongest = 40;  // bytes of a value in a text

}  // namespace

bool CountsFromTheOtherEnd(const dump::Record& record, const Value& target, const Value& golden) {
  if (target.type != "int" || golden.type != "int") return false;
  const auto t = base::ParseDouble(target.value_text);
  const auto g = base::ParseDouble(golden.value_text);
  if (!t || !g || (*t < 0) == (*g < 0)) return false;
  const double larger = std::max(*t, *g);
  const double length = larger - std::min(*t, *g);
  const bool follows = std::min(*t, *g) == -1;  // a size that torch computes
  return std::ranges::any_of(record.values, [&](const Value& value) {
    if (value.kind != dump::ValueKind::kTensor) return false;
    const auto begin = record.extents.begin() + value.shape_begin;
    return length == value.shape_size ||
           std::any_of(begin, begin + value.shape_size, [&](int64_t extent) {
             const auto size = static_cast<double>(extent);
             return size == length || (follows && size == larger);
           });
  });
}

bool IsNumber(const Value& value) { return value.type == "int" || value.type == "float"; }

double ArgumentError(const dump::Record& record, const Value& target, const Value& golden) {
  constexpr double kOther = std::numeric_limits<double>::infinity();
  if (!IsPlain(target.type) || !IsPlain(golden.type) || NamesAPlace(target.key)) return 0;
  if (JudgeScalar(target, golden) != ScalarVerdict::kDifferent) return 0;
  if (target.type == "str" && golden.type == "str") {
    return NamesAPlaceInText(target.value_text) && NamesAPlaceInText(golden.value_text) ? 0
                                                                                        : kOther;
  }
  if (!IsNumber(target) || !IsNumber(golden)) return kOther;
  const auto t = base::ParseDouble(target.value_text);
  const auto g = base::ParseDouble(golden.value_text);
  if (!t || !g) return kOther;
  if (std::isnan(*t) && std::isnan(*g)) return 0;
  if (CountsFromTheOtherEnd(record, target, golden)) return 0;
  if (target.type == "int" && golden.type == "int") return kOther;
  if (!std::isfinite(*t) || !std::isfinite(*g) || *g == 0) return kOther;
  return std::fabs(*t - *g) / std::fabs(*g);
}

std::string_view ArgumentName(const Value& value) {
  std::string_view name = value.key;
  constexpr std::string_view kSection = "input.";
  if (name.starts_with(kSection)) name.remove_prefix(kSection.size());
  return name;
}

std::string OneSidedArgument(const dump::Record& target, const dump::Record& golden) {
  if (const Value* value = ArgumentMissingIn(golden, target)) {
    return "argument `" + std::string(ArgumentName(*value)) + "` is " +
           base::Shortened(value->value_text, kLongest) + ", golden gives none";
  }
  if (const Value* value = ArgumentMissingIn(target, golden)) {
    return "golden's argument `" + std::string(ArgumentName(*value)) + "` is " +
           base::Shortened(value->value_text, kLongest) + ", none is given here";
  }
  return {};
}

std::string ArgumentText(const Value& target, const Value& golden) {
  std::string of_target = base::Shortened(target.value_text, kLongest);
  std::string of_golden = base::Shortened(golden.value_text, kLongest);
  if (of_target == of_golden) {  // long texts, alike at first
    const auto [differs, in_golden] = std::ranges::mismatch(target.value_text, golden.value_text);
    const auto same = static_cast<size_t>(differs - target.value_text.begin());
    const size_t begin = base::CharacterBegin(target.value_text, same);
    of_target = "…" + base::Shortened(target.value_text.substr(begin), kLongest);
    of_golden = "…" + base::Shortened(golden.value_text.substr(begin), kLongest);
  }
  return "argument `" + std::string(ArgumentName(target)) + "` is " + of_target + ", golden's is " +
         of_golden;
}

}  // namespace msprobe::compare
