#include "report/tensor_lines.h"

#include <array>
#include <cmath>
#include <span>
#include <string>

#include "base/numbers.h"
#include "report/printable.h"

namespace msprobe::report {

namespace {

constexpr std::array<const char*, 6> kMetricNames = {"Cosine",
                                                     "EucDist",
                                                     "MaxAbsErr",
                                                     "MaxRelativeErr",
                                                     "One Thousandth Err Ratio",
                                                     "Five Thousandths Err Ratio"};

constexpr std::array<const char*, 4> kStatisticNames = {"MaxRelativeErr", "MinRelativeErr",
                                                        "MeanRelativeErr", "NormRelativeErr"};
constexpr size_t kFirstStatistic = 4;  ///< into ValueResult::metrics, of statistics

std::string TensorLine(std::string_view node, std::string_view key,
                       const compare::Comparison& comparison, const compare::ValueResult& result) {
  std::string line(node);
  line.append(".").append(key).append(": ");
  if (result.unreadable) return line.append("unreadable: ") + comparison.reasons[result.reason];
  bool first = true;
  const std::span<const char* const> names =
      result.by_statistics ? std::span<const char* const>(kStatisticNames) : kMetricNames;
  for (size_t i = 0; i < names.size(); ++i) {
    const double value = result.metrics[result.by_statistics ? kFirstStatistic + i : i];
    if (std::isnan(value)) continue;
    line.append(first ? "" : ", ").append(names[i]).append(" ");
    line += base::FormatNumber(value, std::chars_format::general, 6);
    first = false;
  }
  if (first) line += "not compared";
  if (result.reason != 0) line.append(" (").append(comparison.reasons[result.reason]).append(")");
  return line;
}

}  // namespace

void PrintTensorLines(const compare::Comparison& comparison,
                      const std::function<void(std::string_view line)>& print) {
  if (comparison.mode != compare::CompareMode::kRealData) return;
  const graph::Graph& target = *comparison.target;
  dump::Record record;
  for (const graph::NodeId id : graph::EntryOrder(target)) {
    const compare::NodeResult& node = comparison.result(id);
    const dump::EntryId entry = target.nodes[id].entry;
    if (node.values_size == 0 || entry == dump::kNoEntry) continue;
    if (!target.dump->Read(entry, &record).ok()) continue;  // Compare() has said so
    for (size_t i = 0; i < record.values.size() && i < node.values_size; ++i) {
      const compare::ValueResult& value = comparison.values[node.values_begin + i];
      if (record.values[i].kind != dump::ValueKind::kTensor || value.golden_value == UINT32_MAX) {
        continue;
      }
      print(Printable(TensorLine(target.nodes[id].name, record.values[i].key, comparison, value)));
    }
  }
}

}  // namespace msprobe::report
