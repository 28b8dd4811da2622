#include "graph/record_check.h"

#include <algorithm>
#include <array>
#include <span>

namespace msprobe::graph {
namespace {

using dump::Record;
using dump::Section;
using dump::Value;
using dump::ValueKind;

constexpr std::array kSections = {Section::kInput, Section::kOutput, Section::kParameter};

/// torch.Tensor and mindspore.Tensor are one type; a Parameter is another.
std::string_view TypeName(const Value& value) {
  if (value.kind != ValueKind::kTensor) return value.type;
  return value.type.substr(value.type.rfind('.') + 1);
}

bool SameType(const Value& a, const Value& b) {
  return a.kind == b.kind && TypeName(a) == TypeName(b);
}

/// Anything that is no tensor counts as 0-d, null has no shape.
bool SameShape(const Record& a_record, const Value& a, const Record& b_record, const Value& b) {
  if ((a.kind == ValueKind::kNull) != (b.kind == ValueKind::kNull)) return false;
  const std::span a_shape(a_record.extents.data() + a.shape_begin, a.shape_size);
  const std::span b_shape(b_record.extents.data() + b.shape_begin, b.shape_size);
  return std::equal(a_shape.begin(), a_shape.end(), b_shape.begin(), b_shape.end());
}

bool SameDType(const Value& a, const Value& b) {
  return a.dtype == DType::kUnknown || b.dtype == DType::kUnknown ? a.dtype_text == b.dtype_text
                                                                  : a.dtype == b.dtype;
}

std::array<size_t, 3> CountSections(const Record& record) {
  std::array<size_t, 3> counts{};
  for (const Value& value : record.values) ++counts[static_cast<size_t>(value.section)];
  return counts;
}

/// Calls `visit(a, b)` for the values that stand at the same place of the same section.
template <class Visit>
void ForEachPair(const Record& target, const Record& golden, const Visit& visit) {
  for (const Section section : kSections) {
    const auto in_section = [section](const Value& value) { return value.section == section; };
    auto a = target.values.begin();
    auto b = golden.values.begin();
    for (;; ++a, ++b) {
      a = std::find_if(a, target.values.end(), in_section);
      b = std::find_if(b, golden.values.end(), in_section);
      if (a == target.values.end() || b == golden.values.end()) break;
      visit(*a, *b);
    }
  }
}

}  // namespace

MatchReason CheckRecords(const Record& target, const Record& golden, RecordRule rule) {
  const bool shapes_only = rule == RecordRule::kShapesInCommon;
  if (!shapes_only && CountSections(target) != CountSections(golden)) {
    return MatchReason::kOtherCount;
  }
  bool type = true;
  bool shape = true;
  bool dtype = true;
  ForEachPair(target, golden, [&](const Value& a, const Value& b) {
    type = type && SameType(a, b);
    shape = shape && SameShape(target, a, golden, b);
    dtype = dtype && SameDType(a, b);
  });
  if (!type && !shapes_only) return MatchReason::kOtherType;
  if (!shape) return MatchReason::kOtherShape;
  if (!dtype && rule == RecordRule::kSameUpToDType) return MatchReason::kOtherDType;
  return MatchReason::kNone;
}

}  // namespace msprobe::graph
