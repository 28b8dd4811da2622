#include "compare/fused_compare.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "dump/record.h"

namespace msprobe::compare {

namespace {

using dump::Section;
using dump::Value;
using dump::ValueKind;

/// Statistics of several tensors taken as one.
class Concatenation {
 public:
  void Add(const dump::Record& record, const Value& value) {
    known_ = known_ && value.max.has_number() && value.min.has_number() &&
             value.mean.has_number() && value.norm.has_number();
    double elements = 1;
    for (uint32_t i = 0; i < value.shape_size; ++i) {
      elements *= static_cast<double>(record.extents[value.shape_begin + i]);
    }
    max_ = elements_ == 0 ? value.max.number : std::max(max_, value.max.number);
    min_ = elements_ == 0 ? value.min.number : std::min(min_, value.min.number);
    sum_ += value.mean.number * elements;
    squares_ += value.norm.number * value.norm.number;
    elements_ += elements;
  }

  /// The largest of the relative errors of Max, Min and Norm. The mean, which cancels, is taken
  /// relative to the root mean square.
  std::optional<double> ErrorAgainst(const Concatenation& golden) const {
    if (!known_ || !golden.known_ || elements_ == 0 || elements_ != golden.elements_) return {};
    const double scale = std::sqrt(golden.squares_ / golden.elements_);
    double worst = std::fabs(sum_ - golden.sum_) / golden.elements_ / scale;
    for (const auto& [one, other] : {std::pair(max_, golden.max_), std::pair(min_, golden.min_),
                                     std::pair(std::sqrt(squares_), std::sqrt(golden.squares_))}) {
      worst = std::max(worst, std::fabs(one - other) / std::max(std::fabs(other), scale));
    }
    return std::isfinite(worst) ? std::optional(worst) : std::nullopt;
  }

 private:
  bool known_ = true;
  double max_ = 0, min_ = 0, sum_ = 0, squares_ = 0, elements_ = 0;
};

struct GroupSide {
  Concatenation output;
  Concatenation weight;
};

/// The first output and the first parameter of every node.
GroupSide Gather(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes) {
  GroupSide side;
  dump::Record record;
  for (const graph::NodeId id : nodes) {
    const dump::EntryId entry = graph.nodes[id].entry;
    if (entry == dump::kNoEntry || !graph.dump->Read(entry, &record).ok()) continue;
    bool has_output = false;
    bool has_weight = false;
    for (const Value& value : record.values) {
      if (value.kind != ValueKind::kTensor || value.section == Section::kInput) continue;
      const bool is_output = value.section == Section::kOutput;
      if (std::exchange(is_output ? has_output : has_weight, true)) continue;
      (is_output ? side.output : side.weight).Add(record, value);
    }
  }
  return side;
}

std::string Text(const char* what, std::optional<double> error) {
  if (!error) return {};
  return what + (" " + base::FormatNumber(100 * *error, std::chars_format::general, 4)) + " %";
}

}  // namespace

void CompareFusedGroups(Comparison* comparison) {
  for (const graph::FusedGroup& group : comparison->match.groups) {
    const GroupSide target = Gather(*comparison->target, group.targets);
    const GroupSide golden = Gather(*comparison->golden, group.goldens);
    const std::string output = Text("outputs", target.output.ErrorAgainst(golden.output));
    const std::string weight = Text("weights", target.weight.ErrorAgainst(golden.weight));
    if (output.empty() && weight.empty()) continue;
    NodeResult& first = comparison->nodes[group.targets.front()];
    std::string reason =
        comparison->reasons[first.reason] + "; taken together the statistics differ by: ";
    reason.append(output).append(output.empty() || weight.empty() ? "" : ", ").append(weight);
    const auto id = static_cast<uint32_t>(comparison->reasons.size());
    comparison->reasons.push_back(std::move(reason));
    for (const graph::NodeId node : group.targets) comparison->nodes[node].reason = id;
  }
}

}  // namespace msprobe::compare
