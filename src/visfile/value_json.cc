#include "visfile/value_json.h"

#include <array>
#include <cmath>
#include <span>

#include "base/number_text.h"
#include "formats/json/json_escape.h"

namespace msprobe::visfile {

namespace {

using compare::CompareMode;
using compare::Comparison;
using compare::NodeStatus;
using compare::ValueResult;
using dump::Statistic;
using dump::Value;
using dump::ValueKind;

constexpr std::array<std::string_view, 8> kStatisticsKeys = {
    R"(,"Max diff":")",        R"(,"Min diff":")",       R"(,"Mean diff":")",
    R"(,"L2norm diff":")",     R"(,"MaxRelativeErr":")", R"(,"MinRelativeErr":")",
    R"(,"MeanRelativeErr":")", R"(,"NormRelativeErr":")"};
constexpr size_t kFirstPercent = 4;

constexpr std::array<std::string_view, 6> kRealDataKeys = {R"(,"Cosine":")",
                                                           R"(,"EucDist":")",
                                                           R"(,"MaxAbsErr":")",
                                                           R"(,"MaxRelativeErr":")",
                                                           R"(,"One Thousandth Err Ratio":")",
                                                           R"(,"Five Thousandths Err Ratio":")"};

/// Python's str() of what JSON writes.
std::string_view PythonText(std::string_view token) {
  if (token == "true") return "True";
  if (token == "false") return "False";
  if (token == "NaN") return "nan";
  if (token == "Infinity") return "inf";
  if (token == "-Infinity") return "-inf";
  return token;
}

void AppendStatistic(std::string_view key, const Statistic& statistic, std::string* out) {
  if (statistic.state == Statistic::State::kAbsent) return;
  out->append(key);
  formats::AppendJsonEscaped(statistic.has_number() ? PythonText(statistic.text) : "null", out);
  out->push_back('"');
}

void AppendTensor(const Value& value, Dialect dialect, std::string* out) {
  out->append(R"({"type":)");
  formats::AppendJsonString(value.type, out);
  out->append(R"(,"dtype":)");
  formats::AppendJsonString(value.dtype_text, out);
  out->append(R"(,"shape":)");
  formats::AppendJsonString(value.shape_text, out);
  AppendStatistic(R"(,"Max":")", value.max, out);
  AppendStatistic(R"(,"Min":")", value.min, out);
  AppendStatistic(R"(,"Mean":")", value.mean, out);
  AppendStatistic(R"(,"Norm":")", value.norm, out);
  if (dialect == Dialect::kDb && value.requires_grad != dump::Flag::kAbsent) {
    out->append(R"(,"requires_grad":)");
    out->append(value.requires_grad == dump::Flag::kTrue ? R"("True")" : R"("False")");
  }
  out->append(R"(,"data_name":)");
  formats::AppendJsonString(value.data_name.empty() ? "-1" : value.data_name, out);
  if (!value.md5.empty()) {
    out->append(R"(,"md5":)");
    formats::AppendJsonString(value.md5, out);
  }
}

bool IsNumeric(std::string_view type) { return type == "int" || type == "float" || type == "bool"; }

/// The viewers compare scalars as tensors whose four statistics are the value.
void AppendScalar(const Value& value, Dialect dialect, std::string* out) {
  out->append(R"({"type":)");
  formats::AppendJsonString(value.type, out);
  out->append(R"(,"value":)");
  formats::AppendJsonString(value.value_text, out);
  out->append(R"(,"data_name":"-1")");
  if (dialect == Dialect::kDb) out->append(R"(,"requires_grad":"null")");
  if (IsNumeric(value.type)) {
    for (const std::string_view key : {"Max", "Min", "Mean", "Norm"}) {
      out->append(",\"").append(key).append("\":");
      formats::AppendJsonString(value.value_text, out);
    }
  }
  out->append(R"(,"dtype":"<class )");
  formats::AppendJsonEscaped(value.type, out);
  out->append(R"(>","shape":"[]")");
}

/// False: there was none to append.
bool AppendMetrics(const ValueResult& result, std::span<const std::string_view> keys,
                   size_t first_percent, std::string* out) {
  bool any = false;
  for (size_t i = 0; i < keys.size(); ++i) {
    const double metric = result.metrics[i];
    if (std::isnan(metric)) continue;
    any = true;
    out->append(keys[i]);
    if (i >= first_percent) {
      base::AppendPercent(metric, out);
    } else {
      base::AppendNumberText(metric, out);
    }
    out->push_back('"');
  }
  return any;
}

std::string_view ReasonText(const Comparison& comparison, const ValueResult& result) {
  if (result.reason < comparison.reasons.size() && !comparison.reasons[result.reason].empty()) {
    return comparison.reasons[result.reason];
  }
  if (result.unreadable) return "the tensor file cannot be read";
  if (result.golden_value == UINT32_MAX) return "no partner";
  if (result.nan_on_both_sides) return "NaN on both sides";
  return {};
}

void AppendMd5Result(const Value& value, const ValueResult& result, std::string* out) {
  if (result.golden_value == UINT32_MAX) return;
  if (value.kind == ValueKind::kTensor && !result.md5_compared) return;
  const bool equal =
      value.kind == ValueKind::kTensor ? result.md5_equal : result.status != NodeStatus::kError;
  out->append(equal ? R"(,"Result":"pass")" : R"(,"Result":"Different")");
}

/// `.vis.db` says of every value whether it passes, and why not.
void AppendVerdict(const ValueResult& result, std::string_view reason, std::string* scratch,
                   std::string* out) {
  const std::string_view status = compare::NodeStatusName(result.status);
  out->append(R"(,"Requires_grad Consistent":)");
  out->append(result.requires_grad_equal ? R"("True")" : R"("False")");
  out->append(R"(,"Result":)");
  formats::AppendJsonString(status, out);
  if (reason.empty()) {
    out->append(R"(,"Err_message":"[]")");
    return;
  }
  // A JSON list of strings, itself inside a string.
  std::string& list = *scratch;
  list.assign("[\"");
  formats::AppendJsonEscaped(status, &list);
  list.append(": ");
  formats::AppendJsonEscaped(reason, &list);
  list.append("\"]");
  out->append(R"(,"Err_message":)");
  formats::AppendJsonString(list, out);
}

void AppendResult(const Value& value, const Comparison& comparison, const ValueResult& result,
                  Dialect dialect, std::string* scratch, std::string* out) {
  bool has_metrics = true;
  switch (comparison.mode) {
    case CompareMode::kStatistics:
      has_metrics = AppendMetrics(result, kStatisticsKeys, kFirstPercent, out);
      break;
    case CompareMode::kRealData:
      if (result.by_statistics) break;  // its reason says so
      has_metrics = AppendMetrics(result, kRealDataKeys, kRealDataKeys.size(), out);
      break;
    case CompareMode::kMd5:
      if (dialect == Dialect::kVis) AppendMd5Result(value, result, out);
      break;
    case CompareMode::kStructure: break;
  }
  std::string_view reason = ReasonText(comparison, result);
  if (reason.empty() && !has_metrics && value.kind == ValueKind::kTensor) {
    reason = "no values to compare";
  }
  if (dialect == Dialect::kDb) {
    AppendVerdict(result, reason, scratch, out);
  } else if (!reason.empty()) {
    out->append(R"(,"Reason":)");
    formats::AppendJsonString(reason, out);
  }
}

}  // namespace

void AppendValue(const Value& value, const Comparison* comparison, const ValueResult* result,
                 Dialect dialect, std::string* scratch, std::string* out) {
  switch (value.kind) {
    case ValueKind::kNull: out->append(R"({"value":"null"})"); return;
    case ValueKind::kObject:
      out->append(R"({"type":)");
      formats::AppendJsonString(value.type, out);
      out->append(R"(,"data_name":"-1"})");
      return;
    case ValueKind::kTensor: AppendTensor(value, dialect, out); break;
    case ValueKind::kScalar: AppendScalar(value, dialect, out); break;
  }
  if (result != nullptr) AppendResult(value, *comparison, *result, dialect, scratch, out);
  out->push_back('}');
}

}  // namespace msprobe::visfile
