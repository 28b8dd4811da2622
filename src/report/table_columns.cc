#include "report/table_columns.h"

#include <array>
#include <cmath>
#include <span>

#include "base/number_text.h"

namespace msprobe::report {

namespace {

using compare::CompareMode;
using dump::Value;
using dump::ValueKind;

constexpr std::array<std::string_view, 8> kFirst = {
    "Target Name",         "Golden Name",         "Target Dtype",         "Golden Dtype",
    "Target Tensor Shape", "Golden Tensor Shape", "Target Requires_grad", "Golden Requires_grad"};
constexpr std::array<std::string_view, 8> kStatistics = {
    "Max diff",       "Min diff",       "Mean diff",       "L2norm diff",
    "MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr"};
constexpr size_t kFirstPercent = 4;
constexpr std::array<std::string_view, 7> kRealData = {"Cosine",
                                                       "EucDist",
                                                       "MaxAbsErr",
                                                       "MaxRelativeErr",
                                                       "One Thousandth Err Ratio",
                                                       "Five Thousandths Err Ratio",
                                                       "ULPs"};
constexpr std::array<std::string_view, 8> kValues = {"Target max",    "Target min",   "Target mean",
                                                     "Target l2norm", "Golden max",   "Golden min",
                                                     "Golden mean",   "Golden l2norm"};
constexpr std::array<std::string_view, 2> kChecksums = {"Target MD5", "Golden MD5"};
constexpr std::array<std::string_view, 2> kFiles = {"Target Data_name", "Golden Data_name"};
constexpr std::array<std::string_view, 4> kLast = {"Requires_grad Consistent", "Result", "Reason",
                                                   "Stack"};

std::string_view FlagText(dump::Flag flag) {
  switch (flag) {
    case dump::Flag::kAbsent: return {};
    case dump::Flag::kFalse: return "False";
    case dump::Flag::kTrue: return "True";
  }
  return {};
}

std::string_view TypeText(const Value* value) {
  if (value == nullptr) return {};
  return value->kind == ValueKind::kTensor ? value->dtype_text : value->type;
}

}  // namespace

std::vector<std::string_view> ColumnNames(CompareMode mode) {
  std::vector<std::string_view> names;
  const auto add = [&names](std::span<const std::string_view> some) {
    names.insert(names.end(), some.begin(), some.end());
  };
  add(kFirst);
  if (mode == CompareMode::kStatistics) add(kStatistics);
  if (mode == CompareMode::kRealData) add(kRealData);
  if (mode != CompareMode::kStructure) add(kValues);
  if (mode == CompareMode::kMd5) add(kChecksums);
  if (mode == CompareMode::kRealData) add(kFiles);
  add(kLast);
  return names;
}

void RowCells::Text(std::string_view text) {
  cells_.push_back(text.empty() ? Cell{} : Cell{CellKind::kText, text});
}

void RowCells::Number(double number, std::string_view text) {
  cells_.push_back({CellKind::kNumber, text, number});
}

void RowCells::Name(std::string_view node, const Value* value, std::string* storage) {
  if (node.empty() || value == nullptr) return Text(node);
  storage->assign(node).append(1, '.').append(value->key);
  Text(*storage);
}

/// A scalar argument shows its value where tensors show their largest.
void RowCells::Statistics(const Value* value) {
  if (value == nullptr || value->kind != ValueKind::kTensor) {
    Text(value == nullptr ? std::string_view() : value->value_text);
    for (size_t i = 1; i < kValues.size() / 2; ++i) cells_.emplace_back();
    return;
  }
  for (const dump::Statistic* statistic : {&value->max, &value->min, &value->mean, &value->norm}) {
    if (statistic->has_number()) {
      Number(statistic->number, statistic->text);
    } else {
      cells_.emplace_back();
    }
  }
}

void RowCells::Metrics(const compare::ValueResult* result) {
  const bool statistics = comparison_.mode == CompareMode::kStatistics;
  const size_t count = statistics ? kStatistics.size() : kRealData.size() - 1;
  const bool none = result == nullptr || result->by_statistics;
  for (size_t i = 0; i < count; ++i) {
    const double metric = none ? NAN : result->metrics[i];
    if (std::isnan(metric)) {
      cells_.emplace_back();
    } else if (statistics && i >= kFirstPercent) {
      cells_.push_back({CellKind::kPercent, {}, metric});
    } else {
      Number(metric);
    }
  }
  if (!statistics) Ulps(result);
}

void RowCells::Ulps(const compare::ValueResult* result) {
  ulps_.clear();
  const stats::UlpCounts* counts = result == nullptr ? nullptr : comparison_.UlpsOf(*result);
  if (counts != nullptr) compare::AppendUlps(*counts, &ulps_);
  Text(ulps_);
}

const std::vector<Cell>& RowCells::Fill(const TableRow& row) {
  const CompareMode mode = comparison_.mode;
  cells_.clear();
  Name(row.target_node, row.target, &target_name_);
  Name(row.target != nullptr && row.golden == nullptr && row.result != nullptr ? std::string_view()
                                                                               : row.golden_node,
       row.golden, &golden_name_);
  Text(TypeText(row.target));
  Text(TypeText(row.golden));
  Text(row.target == nullptr ? std::string_view() : row.target->shape_text);
  Text(row.golden == nullptr ? std::string_view() : row.golden->shape_text);
  Text(row.target == nullptr ? std::string_view() : FlagText(row.target->requires_grad));
  Text(row.golden == nullptr ? std::string_view() : FlagText(row.golden->requires_grad));
  if (mode == CompareMode::kStatistics || mode == CompareMode::kRealData) Metrics(row.result);
  if (mode != CompareMode::kStructure) {
    Statistics(row.target);
    Statistics(row.golden);
  }
  if (mode == CompareMode::kMd5) {
    Text(row.target == nullptr ? std::string_view() : row.target->md5);
    Text(row.golden == nullptr ? std::string_view() : row.golden->md5);
  }
  if (mode == CompareMode::kRealData) {
    Text(row.target == nullptr ? std::string_view() : row.target->data_name);
    Text(row.golden == nullptr ? std::string_view() : row.golden->data_name);
  }
  const bool both = row.target != nullptr && row.golden != nullptr && row.result != nullptr;
  Text(!both ? std::string_view() : row.result->requires_grad_equal ? "True" : "False");
  Text(ResultWord(comparison_, row));
  Text(row.reason);
  Text(row.stack);
  return cells_;
}

void AppendCell(const Cell& cell, std::string* out) {
  switch (cell.kind) {
    case CellKind::kNone: return;
    case CellKind::kText: out->append(cell.text); return;
    case CellKind::kNumber:
      if (cell.text.empty()) return base::AppendNumberText(cell.number, out);
      out->append(cell.text);
      return;
    case CellKind::kPercent: return base::AppendPercent(cell.number, out);
  }
}

}  // namespace msprobe::report
