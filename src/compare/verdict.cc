#include "compare/verdict.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/numbers.h"

namespace msprobe::compare {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<__int128_t> ParseInteger(std::string_view text) {
  const auto parse = [&](auto number) -> std::optional<__int128_t> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return __int128_t{number};
  };
  if (const auto number = parse(int64_t{0})) return number;
  return parse(uint64_t{0});
}

/// target − golden; whole numbers that float64 cannot hold are subtracted exactly.
double Difference(const dump::Statistic& target, const dump::Statistic& golden) {
  constexpr double kWhole = 0x1p53;
  if (std::fabs(target.number) >= kWhole && std::fabs(golden.number) >= kWhole) {
    const auto t = ParseInteger(target.text);
    const auto g = ParseInteger(golden.text);
    if (t && g) return static_cast<double>(*t - *g);
  }
  return target.number - golden.number;
}

/// Smallest and largest of what the rules look at, over some sections of a node.
struct Extremes {
  bool any_value = false;  ///< null is none
  bool any_tensor = false;
  bool compared = false;
  bool by_statistics = false;
  double error = 0;
  double norm_error = 0;
  double ratio = 1;
  double cosine = 1;

  void Add(const Evidence& value) {
    any_value |= !value.is_null;
    any_tensor |= value.is_tensor;
    if (!value.compared) return;
    compared = true;
    by_statistics |= value.by_statistics;
    error = std::max(error, value.error);
    norm_error = std::max(norm_error, value.norm_error);
    ratio = std::min(ratio, value.ratio);
    if (!std::isnan(value.cosine)) cosine = std::min(cosine, value.cosine);
  }
};

struct NodeExtremes {
  Extremes in;   ///< inputs and parameters
  Extremes out;  ///< outputs
  Extremes all;
  bool has_outputs = true;
};

NodeExtremes FindExtremes(std::span<const Evidence> values) {
  NodeExtremes extremes;
  for (const Evidence& value : values) {
    (value.section == dump::Section::kOutput ? extremes.out : extremes.in).Add(value);
    extremes.all.Add(value);
  }
  // What has no outputs (parameters_grad) is judged by all it has, as if its inputs were right.
  extremes.has_outputs = extremes.out.any_value;
  if (!extremes.has_outputs) {
    extremes.out = extremes.all;
    extremes.in = {};
  }
  return extremes;
}

NodeVerdict JudgeStatisticsNode(const NodeExtremes& node) {
  const auto& [in, out, all, has_outputs] = node;
  // Norms that differ by less are the rounding of any two devices, also where the inputs are equal.
  constexpr double kNoise = 1e-6;
  if (in.norm_error < 0.1 && out.norm_error > 0.5) {
    return {NodeStatus::kError, has_outputs
                                    ? "the norm of the inputs agrees, that of the outputs does not"
                                    : "a norm differs by more than half"};
  }
  if (out.norm_error > kNoise && out.norm_error > 10 * in.norm_error) {
    return {NodeStatus::kWarning,
            has_outputs ? "the norm error of the outputs is more than 10 times that of the inputs"
                        : "a norm differs"};
  }
  return {};
}

NodeVerdict JudgeRealDataNode(const NodeExtremes& node) {
  const auto& [in, out, all, has_outputs] = node;
  // Inputs of which only the statistics are known may be what makes the outputs differ.
  if (in.error > 0.1) return {};
  if (in.ratio > 0.9 && out.ratio < 0.6) {
    return {NodeStatus::kError,
            has_outputs ? "most elements of the inputs agree, most of the outputs do not"
                        : "many elements of a tensor differ"};
  }
  if (in.cosine > 0.9 && in.cosine - out.cosine > 0.1) {
    return {NodeStatus::kWarning, has_outputs
                                      ? "the cosine of the outputs is far below that of the inputs"
                                      : "the cosine of a tensor is low"};
  }
  return {};
}

/// An index of statistics as one of real data: in the same colour band.
double OnScaleOfRealData(double index) {
  const double from = WorstBand(CompareMode::kStatistics);
  const double to = WorstBand(CompareMode::kRealData);
  return index < from ? index * to / from : to + (index - from) * (1 - to) / (1 - from);
}

}  // namespace

// The table of special values: target, golden → verdict.
StatisticVerdict JudgeStatistic(const dump::Statistic& target, const dump::Statistic& golden,
                                bool other_counts) {
  StatisticVerdict verdict;
  verdict.target_only = target.has_number() && !golden.has_number();
  verdict.golden_only = golden.has_number() && !target.has_number();
  if (!target.has_number() || !golden.has_number()) return verdict;
  verdict.compared = true;
  const double t = target.number;
  const double g = golden.number;
  if (std::isnan(t) && std::isnan(g) && !other_counts) {
    verdict.nan_on_both_sides = true;
    verdict.relative_error = 0;
    return verdict;
  }
  if (!std::isfinite(t) || !std::isfinite(g)) {
    const bool same = t == g && !other_counts;
    verdict.special_on_one_side = !same;
    verdict.difference = same ? 0 : kNaN;
    verdict.relative_error = same ? 0 : kInfinity;
    return verdict;
  }
  const double difference = Difference(target, golden);
  verdict.relative_error = difference == 0 ? 0 : std::fabs(difference) / std::fabs(g);
  verdict.difference = std::isfinite(difference) ? difference : kNaN;
  return verdict;
}

// Max, Min, Mean and Norm of a tensor with one NaN are those of a tensor with many.
std::string OtherCounts(const dump::Value& target, const dump::Value& golden) {
  // A count of 0 is not written, and some tools write none at all.
  const auto counted = [](const dump::Value& value) {
    return value.nan_count > 0 || value.inf_count > 0;
  };
  std::string text;
  if (!counted(target) || !counted(golden)) return text;
  const auto tell = [&text](std::string_view what, uint64_t t, uint64_t g) {
    if (t == g) return;
    text.append(text.empty() ? "" : "; ").append(what);
    text.append(std::to_string(t)).append(", golden's ").append(std::to_string(g));
  };
  tell("the number of NaN is ", target.nan_count, golden.nan_count);
  tell("the number of infinities is ", target.inf_count, golden.inf_count);
  return text;
}

ScalarVerdict JudgeScalar(const dump::Value& target, const dump::Value& golden) {
  if (target.value_text == golden.value_text) return ScalarVerdict::kSame;
  if (target.type.ends_with("device") || target.type.ends_with("ProcessGroup")) {
    return ScalarVerdict::kSame;
  }
  if (target.type.ends_with("dtype")) return ScalarVerdict::kOtherDType;
  const auto t = base::ParseDouble(target.value_text);
  const auto g = base::ParseDouble(golden.value_text);
  const auto same = t && g && *t == *g && std::fabs(*t) < 0x1p53;
  return same ? ScalarVerdict::kSame : ScalarVerdict::kDifferent;
}

ChecksumVerdict JudgeChecksum(std::string_view target, std::string_view golden) {
  if (target.empty() || golden.empty() || target.starts_with("0x") != golden.starts_with("0x")) {
    return ChecksumVerdict::kNotComparable;
  }
  return target == golden ? ChecksumVerdict::kEqual : ChecksumVerdict::kDifferent;
}

double NodeIndex(CompareMode mode, std::span<const Evidence> values) {
  if (mode == CompareMode::kStructure || values.empty()) return kNaN;
  const auto [in, out, all, has_outputs] = FindExtremes(values);
  const Extremes& judged = mode == CompareMode::kMd5 ? all : out;
  if (!judged.compared) return judged.any_tensor ? kNaN : 0;
  const double error = std::min(judged.error, 1.0);
  if (mode != CompareMode::kRealData) return error;
  return std::max(std::clamp(in.ratio - out.ratio, 0.0, 1.0), OnScaleOfRealData(error));
}

NodeVerdict JudgeNode(CompareMode mode, std::span<const Evidence> values) {
  const NodeExtremes node = FindExtremes(values);
  if (!node.out.compared) return {};
  if (mode != CompareMode::kStatistics && mode != CompareMode::kRealData) return {};
  const bool by_norms = mode == CompareMode::kStatistics || node.all.by_statistics;
  const NodeVerdict norms = by_norms ? JudgeStatisticsNode(node) : NodeVerdict{};
  const NodeVerdict elements =
      mode == CompareMode::kRealData ? JudgeRealDataNode(node) : NodeVerdict{};
  return norms.status > elements.status ? norms : elements;
}

bool ReturnsUnwrittenMemory(std::string_view api) {
  static constexpr std::array<std::string_view, 6> kApis = {
      "empty", "empty_like", "empty_strided", "empty_with_format", "new_empty", "new_empty_strided",
  };
  return std::find(kApis.begin(), kApis.end(), api) != kApis.end();
}

bool IsDiscontinuous(std::string_view api, bool backward) {
  static constexpr std::string_view kForward[] = {
      "argmax", "argmin", "argsort", "bernoulli",    "bucketize",  "ceil", "eq", "equal", "floor",
      "ge",     "gt",     "isclose", "le",           "lt",         "mode", "ne", "round", "sign",
      "sort",   "topk",   "trunc",   "searchsorted", "multinomial"};
  static constexpr std::string_view kBackward[] = {
      "abs",         "amax",      "amin",       "clamp",      "clip", "hardshrink",
      "hardsigmoid", "hardswish", "hardtanh",   "leaky_relu", "max",  "maximum",
      "median",      "min",       "minimum",    "prelu",      "relu", "relu6",
      "rrelu",       "sort",      "softshrink", "threshold",  "topk"};
  const auto names = backward ? std::span<const std::string_view>(kBackward)
                              : std::span<const std::string_view>(kForward);
  while (api.ends_with('_')) api.remove_suffix(1);
  while (api.starts_with('_')) api.remove_prefix(1);
  if (backward && api.find("max_pool") != std::string_view::npos) return true;
  return std::find(names.begin(), names.end(), api) != names.end();
}

double WorstBand(CompareMode mode) {
  switch (mode) {
    case CompareMode::kStatistics: return 0.8;
    case CompareMode::kRealData: return 0.2;
    default: return 1;
  }
}

}  // namespace msprobe::compare
