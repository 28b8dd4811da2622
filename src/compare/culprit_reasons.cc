#include "compare/culprit_reasons.h"

#include <algorithm>
#include <span>
#include <utility>

#include "compare/scalar_argument.h"
#include "compare/tolerance.h"
#include "dump/record.h"
#include "graph/match.h"
#include "tensor/dtype.h"

namespace msprobe::compare {

namespace {

using graph::kNoNode;
using graph::NodeId;

/// The first call that golden makes inside and target does not.
std::string MissingInside(const Comparison& comparison, NodeId id) {
  const NodeId partner = comparison.match.golden_of_target[id];
  for (const NodeId child : comparison.golden->children(partner)) {
    if (comparison.match.target_of_golden[child] != kNoNode) continue;
    // Target calls it too, in another way.
    const NodeId same_name = comparison.target->Find(comparison.golden->nodes[child].name);
    if (same_name != kNoNode && comparison.target->nodes[same_name].parent == id) continue;
    return std::string(comparison.golden->nodes[child].name);
  }
  return {};
}

/// Empty if both are the same, as far as is known here.
std::string ValueText(const dump::Record& record, const dump::Value& value,
                      const dump::Value& golden) {
  if (value.kind == dump::ValueKind::kScalar && golden.kind == value.kind) {
    return ArgumentError(record, value, golden) > 0 ? "; " + ArgumentText(value, golden) : "";
  }
  if (value.kind != dump::ValueKind::kTensor || golden.kind != value.kind) return {};
  if (value.shape_text == golden.shape_text) return {};
  return "; its `" + std::string(value.key) + "` has the shape " + std::string(value.shape_text) +
         ", golden's " + std::string(golden.shape_text);
}

/// Whole numbers in place of others, as a mask of bools for one that is added.
bool IsOtherKind(const dump::Value& value, const dump::Value& golden) {
  return value.kind == dump::ValueKind::kTensor && golden.kind == value.kind &&
         value.dtype != DType::kUnknown && golden.dtype != DType::kUnknown &&
         (UnitRoundoff(value.dtype) == 0) != (UnitRoundoff(golden.dtype) == 0);
}

/// What else a call takes whose inputs agree: arguments that may mean the same (`dim=-1`) or not
/// (`x * -1`), that one side alone gives, tensors of another kind.
std::string OtherwiseTaken(const Comparison& comparison, NodeId id) {
  const NodeResult& result = comparison.nodes[id];
  const auto values = std::span(comparison.values).subspan(result.values_begin, result.values_size);
  // Reading both records again costs as much as comparing them.
  const bool any =
      comparison.match.mismatched[id] || std::ranges::any_of(values, [](const ValueResult& value) {
        return value.reason != 0 || !value.dtype_equal;
      });
  dump::Record record, golden;
  if (!any || !ReadRecordOf(*comparison.target, id, &record) ||
      !ReadRecordOf(*comparison.golden, comparison.match.golden_of_target[id], &golden)) {
    return {};
  }
  for (size_t i = 0; i < values.size() && i < record.values.size(); ++i) {
    const dump::Value& value = record.values[i];
    const uint32_t place = values[i].golden_value;
    if (value.section != dump::Section::kInput || place >= golden.values.size()) continue;
    const dump::Value& other = golden.values[place];
    if (CountsFromTheOtherEnd(record, value, other)) return "; " + ArgumentText(value, other);
    if (IsOtherKind(value, other)) {
      return "; its `" + std::string(ArgumentName(value)) + "` is " +
             std::string(value.dtype_text) + ", golden's is " + std::string(other.dtype_text);
    }
  }
  const std::string one_sided = OneSidedArgument(record, golden);
  return one_sided.empty() ? "" : "; " + one_sided;
}

/// Many calls of the same name stand elsewhere: their numbers say nothing.
bool NumbersAreShifted(const Comparison& comparison) {
  constexpr size_t kMany = 10;
  size_t count = 0;
  return std::ranges::any_of(comparison.match.target_reason, [&](graph::MatchReason reason) {
    return reason == graph::MatchReason::kOtherParent && ++count == kMany;
  });
}

}  // namespace

std::string SourceReason(const Comparison& comparison, const FactTable& facts, NodeId id) {
  const graph::Graph& graph = *comparison.target;
  const bool gradient = graph.nodes[id].name.find(".parameters_grad") != std::string_view::npos;
  if (gradient) return "the forward and the gradients agree, the gradients of parameters do not";
  if (facts.nodes[id].argument_error > 0) {
    return "its inputs agree, its outputs do not" + ArgumentToo(facts, id);
  }
  if (!facts.nodes[id].has_inputs) {
    return "its outputs differ though it takes no tensors: random numbers or other constants";
  }
  size_t unmatched = 0;
  for (const NodeId child : graph.children(id)) {
    unmatched += comparison.match.golden_of_target[child] == kNoNode ? 1 : 0;
  }
  std::string reason = "its inputs agree, its outputs do not";
  if (unmatched > 0) reason += "; " + std::to_string(unmatched) + " nodes inside have no partner";
  const std::string missing = MissingInside(comparison, id);
  if (!missing.empty()) reason += "; golden also calls " + missing + " in it";
  return reason + OtherwiseTaken(comparison, id);
}

std::string EqualOutputsReason(const FactTable& facts, NodeId id) {
  return facts.DifferingArgument(id) + "; its outputs are equal as far as they are recorded";
}

std::string ArgumentToo(const FactTable& facts, NodeId id) {
  if (facts.nodes[id].argument_error <= 0) return {};
  return "; " + facts.DifferingArgument(id);
}

std::string OtherCallReason(const Comparison& comparison, NodeId id, bool or_shape) {
  const std::string reason = "golden calls it with other arguments";
  std::string either = reason + (or_shape ? ", or gets another shape" : "");
  const NodeId other = comparison.golden->Find(comparison.target->nodes[id].name);
  dump::Record record, golden;
  if (other == kNoNode || !ReadRecordOf(*comparison.target, id, &record) ||
      !ReadRecordOf(*comparison.golden, other, &golden)) {
    return either;
  }
  std::string shape;
  for (const dump::Value& value : record.values) {
    const auto same = std::ranges::find(golden.values, value.key, &dump::Value::key);
    if (same == golden.values.end()) continue;
    std::string text = ValueText(record, value, *same);
    // Arguments say more: shapes may follow from them.
    if (value.kind == dump::ValueKind::kScalar && !text.empty()) return reason + text;
    if (shape.empty()) shape = std::move(text);
  }
  const std::string one_sided = OneSidedArgument(record, golden);
  return one_sided.empty() ? either + shape : reason + "; " + one_sided;
}

std::string RewiredReason(const Comparison& comparison, NodeId maker, bool alone) {
  if (maker == kNoNode) {
    return "its inputs differ, and no recorded node made them: other data or other weights?";
  }
  const std::string lead =
      "its inputs differ, and " + std::string(comparison.target->nodes[maker].name);
  if (!alone) {
    return lead +
           ", which made them, agrees: golden computes something between the two, or takes other "
           "data";
  }
  const bool unmatched = comparison.match.golden_of_target[maker] == kNoNode;
  return lead +
         (unmatched ? ", which made them, has no partner"
                    : ", whose partner is a guess, made them") +
         ": golden makes another number of such calls";
}

std::string CoarserMakerReason(const Comparison& comparison, const FactTable& facts, NodeId id,
                               NodeId maker) {
  const DType own = facts.nodes[id].dtype;
  const DType coarser = facts.nodes[maker].dtype;
  const std::string name(comparison.target->nodes[maker].name);
  if (UnitRoundoff(coarser) <= UnitRoundoff(own)) {
    return "its inputs differ by more than its tolerance; " + name +
           ", which made them, agrees within a larger one";
  }
  const auto text = [](DType dtype) {
    return std::string(tensor::DTypeName(dtype, tensor::DTypeSpelling::kNumpy));
  };
  return "its inputs differ by more than the rounding of " + text(own) + "; " + name +
         ", which made them, agrees within that of " + text(coarser) + ", in which it computes too";
}

std::string UnpairedReason(const Comparison& comparison, NodeId id, const std::string& made) {
  const NodeId golden = comparison.golden->Find(comparison.target->nodes[id].name);
  if (golden == kNoNode) return "golden has no such node, and " + made;
  const graph::Match& match = comparison.match;
  const NodeId other = match.target_of_golden[golden];
  if (other == id) return "golden's node of this name is a guess at its partner, and " + made;
  if (other != kNoNode) {
    return "golden's node of this name goes with " +
           std::string(comparison.target->nodes[other].name) + ", and " + made;
  }
  std::string reason = "golden's node of this name is not its partner";
  if (match.target_reason[id] != graph::MatchReason::kNone) {
    reason += " (" + std::string(graph::MatchReasonText(match.target_reason[id])) + ")";
  }
  reason += ", and " + made;
  if (NumbersAreShifted(comparison)) reason += "; -fm pairs calls whatever their numbers";
  return reason;
}

std::string LittleAtFirstReason(const Comparison& comparison, const FactTable& facts, NodeId id,
                                bool alone) {
  if (alone) {
    return UnpairedReason(comparison, id,
                          "what it made differs, little at first, from what golden used in its "
                          "place");
  }
  if (facts.nodes[id].argument_error > 0) {
    return facts.DifferingArgument(id) + "; its outputs differ, little at first";
  }
  return "its inputs are equal, its outputs differ by more than rounding, little at first";
}

}  // namespace msprobe::compare
