#include "compare/node_compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "compare/scalar_argument.h"
#include "graph/node_name.h"
#include "graph/record_check.h"

namespace msprobe::compare {

namespace {

using dump::Record;
using dump::Value;
using dump::ValueKind;
using graph::MatchReason;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kHugeElements = uint64_t{1} << 25;

bool IsEmpty(const Record& record, const Value& value) {
  const auto* begin = record.extents.data() + value.shape_begin;
  return std::find(begin, begin + value.shape_size, 0) != begin + value.shape_size;
}

constexpr std::array<std::string_view, 4> kStatisticNames = {"Max", "Min", "Mean", "Norm"};
/// Some tools record no Mean and Norm of whole numbers. Max and Min do not see numbers that change
/// places: what they agree in is fine, but not all there is to compare. See report/left_out.cc.
constexpr char kInPart[] = "compared only in part: ";

void AppendName(std::string_view name, std::string* list) {
  if (!list->empty()) list->append(", ");
  list->append(name);
}

// The place of the worst value is worth a word: "the shape differs (input.1)".
std::string AtPlace(std::string_view reason, std::string_view key) {
  return std::string(reason) + " (" + std::string(key) + ")";
}

}  // namespace

NodeComparer::NodeComparer(const Sides& sides, CompareMode mode, size_t tensor_threads,
                           const base::CancelToken* cancel, NodeResults* results)
    : sides_(sides),
      mode_(mode),
      tensor_threads_(tensor_threads),
      cancel_(cancel),
      results_(*results) {}

void NodeComparer::Raise(NodeStatus status, std::string_view reason, NodeResult* result) {
  if (status < result->status || (status == result->status && result->reason != 0)) return;
  result->status = status;
  result->reason = results_.reasons.Intern(reason);
}

void NodeComparer::Raise(NodeStatus status, std::string_view reason, ValueResult* result) {
  if (status < result->status || (status == result->status && result->reason != 0)) return;
  result->status = status;
  result->reason = results_.reasons.Intern(reason);
}

/// Beside what is said already ("the dtype differs").
void NodeComparer::AddReason(std::string_view reason, ValueResult* result) {
  std::string all = results_.reasons.text(result->reason);
  if (!all.empty()) all += "; ";
  result->reason = results_.reasons.Intern(all.append(reason));
}

void NodeComparer::Compare(graph::NodeId target_node) {
  const graph::NodeId golden_node = sides_.match.golden_of_target[target_node];
  NodeResult result;
  target_read_ = false;
  if (golden_node == graph::kNoNode) {
    result.reason = results_.reasons.Intern(
        graph::MatchNote(sides_.match, sides_.target, sides_.golden, target_node, true));
    target_read_ = ReadAlone(false, target_node, &target_record_);
  } else if (!ComparePair(target_node, golden_node, &result)) {
    results_.huge.push_back(target_node);
    return;
  }
  results_.ids.push_back(target_node);
  results_.nodes.push_back(result);
}

/// False for a pair that is left for later.
bool NodeComparer::ComparePair(graph::NodeId target_node, graph::NodeId golden_node,
                               NodeResult* result) {
  const graph::Node& target = sides_.target.nodes[target_node];
  const graph::Node& golden = sides_.golden.nodes[golden_node];
  result->status = NodeStatus::kPass;
  by_mapping_ = sides_.match.by_mapping[target_node];
  const bool readable = ReadRecords(target_node, golden_node, result);
  const MatchReason reason = CheckPair(target_node, readable);
  if (reason != MatchReason::kNone && sides_.match.unchecked == graph::RecordRule::kSame) {
    result->status = NodeStatus::kUnmatched;
    result->reason = results_.reasons.Intern(
        graph::UnmatchedText(reason, sides_.target, sides_.golden, target_node));
    return true;
  }
  mismatch_ = reason == MatchReason::kOtherDType ? MatchReason::kNone : reason;
  if (readable && (target.entry == dump::kNoEntry) != (golden.entry == dump::kNoEntry)) {
    Raise(NodeStatus::kWarning,
          target.entry == dump::kNoEntry ? "not compared: target has no record of this node"
                                         : "not compared: golden has no record of this node",
          result);
  }
  PairValues(target_record_, golden_record_, by_mapping_, &pairs_);
  if (readable && HasHugeTensor()) return false;
  CompareValues(result);
  Judge(target_node, result);
  return true;
}

/// Why the records do not fit to each other, by now or by the matching.
MatchReason NodeComparer::CheckPair(graph::NodeId target_node, bool readable) {
  const graph::Match& match = sides_.match;
  if (!match.unchecked) {
    return match.mismatched[target_node] ? match.target_reason[target_node] : MatchReason::kNone;
  }
  if (!readable || target_node == graph::kRootNode) return MatchReason::kNone;
  const MatchReason reason = graph::CheckRecords(target_record_, golden_record_, *match.unchecked);
  if (reason != MatchReason::kNone) results_.broken.emplace_back(target_node, reason);
  return reason;
}

void NodeComparer::GatherFacts(graph::NodeId target_node, FactGatherer* gatherer) {
  const NodeResult& result = results_.nodes.back();
  gatherer->Add(target_node, target_read_ ? &target_record_ : nullptr, golden_record_,
                std::span(results_.values).subspan(result.values_begin, result.values_size));
}

/// False if the record is damaged, which `damage` then tells; a node without a record has no
/// values.
bool NodeComparer::ReadRecord(bool golden, graph::NodeId id, Record* record, std::string* damage) {
  const graph::Graph& graph = golden ? sides_.golden : sides_.target;
  const graph::Node& node = graph.nodes[id];
  if (node.entry == dump::kNoEntry) {
    record->values.clear();
    return true;
  }
  const Status status = graph.dump->Read(node.entry, record);
  if (status.ok()) return true;
  record->values.clear();
  *damage = golden ? "golden record " : "target record ";
  damage->append(node.name).append(": ").append(status.fact());
  results_.damaged.push_back({base::DiagnosticKind::kUnreadableRecord,
                              Status(status.code(), *damage, status.advice(), status.path())});
  return false;
}

bool NodeComparer::ReadRecords(graph::NodeId target, graph::NodeId golden, NodeResult* result) {
  std::string damage;
  const bool target_fine = ReadRecord(false, target, &target_record_, &damage);
  if (!target_fine) Raise(NodeStatus::kUnreadable, damage, result);
  golden_damaged_ = !ReadRecord(true, golden, &golden_record_, &damage);
  if (golden_damaged_) Raise(NodeStatus::kUnreadable, damage, result);
  target_read_ = target_fine && sides_.target.nodes[target].entry != dump::kNoEntry;
  return target_fine && !golden_damaged_;
}

/// The record of a node without a partner: only whether it is damaged is of interest. False if it
/// is, or if there is none.
bool NodeComparer::ReadAlone(bool golden, graph::NodeId id, Record* record) {
  std::string damage;
  if (!ReadRecord(golden, id, record, &damage)) {
    results_.damaged_nodes.push_back({id, golden, results_.reasons.Intern(damage)});
    return false;
  }
  return (golden ? sides_.golden : sides_.target).nodes[id].entry != dump::kNoEntry;
}

void NodeComparer::CheckGoldenOnly(graph::NodeId golden_node) {
  ReadAlone(true, golden_node, &golden_record_);
}

bool NodeComparer::HasHugeTensor() const {
  if (mode_ != CompareMode::kRealData || tensor_threads_ > 0) return false;
  return std::any_of(
      target_record_.values.begin(), target_record_.values.end(), [&](const Value& value) {
        const RecordedTensor tensor{"target", nullptr, &target_record_, &value};
        return value.kind == ValueKind::kTensor && RecordedElements(tensor) >= kHugeElements;
      });
}

void NodeComparer::CompareValues(NodeResult* result) {
  result->values_begin = static_cast<uint32_t>(results_.values.size());
  result->values_size = static_cast<uint32_t>(target_record_.values.size());
  evidence_.assign(target_record_.values.size(), {});
  for (size_t i = 0; i < target_record_.values.size(); ++i) {
    ValueResult value;
    value.metrics.fill(kNaN);
    CompareValue(i, &value, &evidence_[i]);
    // Golden may have had a partner for it: nobody knows.
    if (golden_damaged_ && evidence_[i].is_tensor) {
      Raise(NodeStatus::kUnreadable, results_.reasons.text(result->reason), &value);
    }
    results_.values.push_back(value);
  }
}

void NodeComparer::CompareValue(size_t index, ValueResult* result, Evidence* evidence) {
  const Value& target = target_record_.values[index];
  evidence->section = target.section;
  evidence->is_tensor = target.kind == ValueKind::kTensor;
  evidence->is_null = target.kind == ValueKind::kNull;
  result->golden_value = pairs_.golden_of_target[index];
  if (result->golden_value == kNoValue) {
    if (evidence->is_tensor && !golden_damaged_) {
      Raise(NodeStatus::kWarning, "golden has no such parameter", result);
    }
    return;
  }
  const Value& golden = golden_record_.values[result->golden_value];
  CompareMeta(target, golden, result);
  if (evidence->is_tensor && golden.kind == ValueKind::kTensor) {
    CompareTensor(target, golden, result, evidence);
  }
}

bool NodeComparer::SameShape(const Value& target, const Value& golden) const {
  const auto* t = target_record_.extents.data() + target.shape_begin;
  const auto* g = golden_record_.extents.data() + golden.shape_begin;
  return std::equal(t, t + target.shape_size, g, g + golden.shape_size);
}

/// All that is not a number: mapped pairs may differ in type and shape.
void NodeComparer::CompareMeta(const Value& target, const Value& golden, ValueResult* result) {
  if (target.kind != golden.kind) {
    if (!by_mapping_) Raise(NodeStatus::kError, "the kind of the value differs", result);
    return;
  }
  if (target.kind == ValueKind::kScalar) {
    switch (JudgeScalar(target, golden)) {
      case ScalarVerdict::kSame: return;
      case ScalarVerdict::kOtherDType:
        return Raise(NodeStatus::kWarning, "the dtype argument differs", result);
      case ScalarVerdict::kDifferent:
        if (CountsFromTheOtherEnd(target_record_, target, golden)) {
          return Raise(NodeStatus::kPass, "the argument counts from the other end", result);
        }
        return Raise(NodeStatus::kError, "the scalar argument differs", result);
    }
  }
  if (target.kind != ValueKind::kTensor) return;
  result->requires_grad_equal = target.requires_grad == golden.requires_grad ||
                                target.requires_grad == dump::Flag::kAbsent ||
                                golden.requires_grad == dump::Flag::kAbsent;
  if (!by_mapping_ && !SameShape(target, golden)) {
    Raise(NodeStatus::kError, "the shape differs", result);
  }
  if (!result->requires_grad_equal) Raise(NodeStatus::kError, "requires_grad differs", result);
  const bool same_dtype = target.dtype == golden.dtype && (target.dtype != DType::kUnknown ||
                                                           target.dtype_text == golden.dtype_text);
  result->dtype_equal = same_dtype;
  if (!same_dtype) Raise(NodeStatus::kWarning, "the dtype differs", result);
}

void NodeComparer::CompareTensor(const Value& target, const Value& golden, ValueResult* result,
                                 Evidence* evidence) {
  switch (mode_) {
    case CompareMode::kStatistics: return CompareStatistics(target, golden, result, evidence);
    case CompareMode::kRealData: return CompareElements(target, golden, result, evidence);
    case CompareMode::kMd5: return CompareChecksums(target, golden, result, evidence);
    case CompareMode::kStructure: return;
  }
}

/// The statistics that both sides recorded; false: there are none.
bool NodeComparer::CompareNumbers(const Value& target, const Value& golden, ValueResult* result,
                                  Evidence* evidence) {
  // Of another shape, by a mapping, as many are not to be expected.
  const std::string other_counts =
      SameShape(target, golden) ? OtherCounts(target, golden) : std::string();
  const auto judge = [&](const dump::Statistic& of_target, const dump::Statistic& of_golden) {
    return JudgeStatistic(of_target, of_golden, !other_counts.empty());
  };
  const std::array<StatisticVerdict, 4> verdicts = {
      judge(target.max, golden.max), judge(target.min, golden.min), judge(target.mean, golden.mean),
      judge(target.norm, golden.norm)};
  bool special = false;
  std::string golden_lacks, target_lacks;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    result->metrics[i] = verdicts[i].difference;
    result->metrics[4 + i] = verdicts[i].relative_error;
    if (verdicts[i].target_only) AppendName(kStatisticNames[i], &golden_lacks);
    if (verdicts[i].golden_only) AppendName(kStatisticNames[i], &target_lacks);
    if (!verdicts[i].compared) continue;
    evidence->compared = true;
    evidence->error = std::max(evidence->error, verdicts[i].relative_error);
    result->nan_on_both_sides |= verdicts[i].nan_on_both_sides;
    special |= verdicts[i].special_on_one_side;
  }
  if (verdicts[3].compared) evidence->norm_error = verdicts[3].relative_error;
  if (special) {
    Raise(NodeStatus::kError,
          other_counts.empty() ? "NaN or infinity on one side only" : other_counts, result);
  } else if (result->nan_on_both_sides) {
    Raise(NodeStatus::kPass, "NaN on both sides", result);
  }
  if (!evidence->compared) return false;
  if (!golden_lacks.empty()) AddReason(kInPart + ("golden recorded no " + golden_lacks), result);
  if (!target_lacks.empty()) AddReason(kInPart + ("target recorded no " + target_lacks), result);
  return true;
}

void NodeComparer::CompareStatistics(const Value& target, const Value& golden, ValueResult* result,
                                     Evidence* evidence) {
  if (CompareNumbers(target, golden, result, evidence)) return;
  const bool target_has = target.max.has_number() || target.norm.has_number();
  const bool golden_has = golden.max.has_number() || golden.norm.has_number();
  if (target_has != golden_has) {
    Raise(NodeStatus::kWarning,
          target_has ? "not compared: golden recorded no statistics"
                     : "not compared: target recorded no statistics",
          result);
  } else if (IsEmpty(target_record_, target) && IsEmpty(golden_record_, golden)) {
    evidence->compared = true;
  } else {
    Raise(NodeStatus::kPass, "not compared: no statistics on either side", result);
  }
}

void NodeComparer::CompareChecksums(const Value& target, const Value& golden, ValueResult* result,
                                    Evidence* evidence) {
  const ChecksumVerdict verdict = JudgeChecksum(target.md5, golden.md5);
  if (verdict == ChecksumVerdict::kNotComparable) {
    if (target.md5.empty() && golden.md5.empty()) {
      return Raise(NodeStatus::kPass, "not compared: no checksum on either side", result);
    }
    return Raise(NodeStatus::kWarning, "not compared: no checksum of the same kind on both sides",
                 result);
  }
  evidence->compared = result->md5_compared = true;
  result->md5_equal = verdict == ChecksumVerdict::kEqual;
  evidence->error = result->md5_equal ? 0 : 1;
  if (!result->md5_equal) Raise(NodeStatus::kError, "the checksum differs", result);
}

/// Collecting that has used up its max_bytes, or the disk, goes on with statistics.
void NodeComparer::CompareWithoutFile(const Value& target, const Value& golden, ValueResult* result,
                                      Evidence* evidence) {
  if (IsEmpty(target_record_, target)) {
    evidence->compared = true;
    return;
  }
  result->by_statistics = CompareNumbers(target, golden, result, evidence);
  evidence->by_statistics = result->by_statistics;
  const std::string_view fact = !golden.data_name.empty()   ? "target has no tensor file"
                                : !target.data_name.empty() ? "golden has no tensor file"
                                                            : "no tensor file on either side";
  if (result->by_statistics) {
    return AddReason("only statistics are compared: " + std::string(fact), result);
  }
  Raise(NodeStatus::kWarning, "not compared: " + std::string(fact), result);
}

void NodeComparer::CompareElements(const Value& target, const Value& golden, ValueResult* result,
                                   Evidence* evidence) {
  if (!SameShape(target, golden)) {
    return Raise(NodeStatus::kWarning, "not compared: the shape differs", result);
  }
  if (target.data_name.empty() || golden.data_name.empty()) {
    return CompareWithoutFile(target, golden, result, evidence);
  }
  stats::PairMetrics metrics;
  std::vector<Status> unreadable;
  const RecordedTensor target_tensor{"target", sides_.target.dump.get(), &target_record_, &target};
  const RecordedTensor golden_tensor{"golden", sides_.golden.dump.get(), &golden_record_, &golden};
  if (!CompareTensorFiles(target_tensor, golden_tensor, std::max<size_t>(1, tensor_threads_),
                          cancel_, &metrics, &unreadable)) {
    if (unreadable.empty()) return;
    result->unreadable = true;
    Raise(NodeStatus::kUnreadable, unreadable.front().fact(), result);
    for (Status& status : unreadable) {
      results_.damaged.push_back({base::DiagnosticKind::kUnreadableTensor, std::move(status)});
    }
    return;
  }
  evidence->compared = true;
  evidence->ratio = metrics.ratio_thousandth;
  // Beside a value without a file the norms are what all values of the node have.
  const StatisticVerdict norm = JudgeStatistic(target.norm, golden.norm);
  if (norm.compared) evidence->norm_error = norm.relative_error;
  if (metrics.cosine_defined) evidence->cosine = metrics.cosine;
  result->metrics = {evidence->cosine,
                     metrics.euclidean_distance,
                     metrics.max_abs_error,
                     metrics.max_relative_error,
                     metrics.ratio_thousandth,
                     metrics.ratio_five_thousandths,
                     kNaN,
                     kNaN};
  if (metrics.ulps != stats::UlpCounts{}) {
    result->metrics[kUlpPlace] = static_cast<double>(results_.ulps.size());
    results_.ulps.push_back(metrics.ulps);
  }
  result->nan_on_both_sides = metrics.special_both > 0;
  if (metrics.special_mismatch > 0) {
    Raise(NodeStatus::kError, "NaN or infinity on one side only", result);
  } else if (result->nan_on_both_sides) {
    Raise(NodeStatus::kPass, "NaN on both sides", result);
  }
}

/// A node is never better than its worst value, and says which one it is.
void NodeComparer::JudgeValues(NodeResult* result) {
  const ValueResult* worst = nullptr;
  size_t place = 0;
  for (size_t i = 0; i < result->values_size; ++i) {
    const ValueResult& value = results_.values[result->values_begin + i];
    if (value.reason == 0 || (worst != nullptr && value.status <= worst->status)) continue;
    worst = &value;
    place = i;
  }
  if (worst == nullptr) return;
  const Value& value = target_record_.values[place];
  if (value.kind == ValueKind::kScalar && worst->golden_value != kNoValue) {
    const Value& golden = golden_record_.values[worst->golden_value];
    if (golden.kind == value.kind) return Raise(worst->status, ArgumentText(value, golden), result);
  }
  Raise(worst->status, AtPlace(results_.reasons.text(worst->reason), value.key), result);
}

void NodeComparer::Judge(graph::NodeId node, NodeResult* result) {
  const auto name = graph::ParseNodeName(sides_.target.nodes[node].name);
  if (name.kind == graph::NodeKind::kApi && ReturnsUnwrittenMemory(name.api) &&
      result->status != NodeStatus::kUnreadable) {
    for (size_t i = 0; i < result->values_size; ++i) {
      ValueResult& value = results_.values[result->values_begin + i];
      if (!value.unreadable) value.status = NodeStatus::kPass;
    }
    JudgeValues(result);
    if (result->status == NodeStatus::kUnreadable) return;
    result->index = mode_ == CompareMode::kStructure ? kNaN : 0;
    result->reason = results_.reasons.Intern("its output is memory that nobody has written yet");
    return;
  }
  const NodeVerdict verdict = JudgeNode(mode_, evidence_);
  const bool mismatched = mismatch_ != MatchReason::kNone;
  if (mismatched) Raise(NodeStatus::kError, graph::MatchReasonText(mismatch_), result);
  result->beside_values = result->status;
  JudgeValues(result);
  Raise(verdict.status, verdict.reason, result);
  if (pairs_.golden_tensors_left > 0) {
    Raise(NodeStatus::kWarning, "golden has parameters that target does not have", result);
    result->beside_values = std::max(result->beside_values, NodeStatus::kWarning);
  }
  // What could not be read must not look like a pass in a viewer that knows only the index.
  if (result->status == NodeStatus::kUnreadable) return;
  result->index = mismatched ? 1 : NodeIndex(mode_, evidence_);
  if (std::isnan(result->index) && !evidence_.empty() && mode_ != CompareMode::kStructure) {
    Raise(NodeStatus::kWarning, "not compared: nothing that can be compared was recorded", result);
  }
}

}  // namespace msprobe::compare
