#include "compare/value_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/tolerance.h"

namespace msprobe::compare {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Elements(const dump::Record& record, const dump::Value& value) {
  double count = 1;
  for (uint32_t i = 0; i < value.shape_size; ++i) {
    count *= static_cast<double>(record.extents[value.shape_begin + i]);
  }
  return count;
}

double Ratio(double difference, double scale) {
  if (difference == 0) return 0;
  return scale > 0 ? std::fabs(difference) / scale : kInfinity;
}

/// What a difference of single elements is measured by: the largest of them. But a tensor with a
/// mask holds a constant that is far larger than all that was computed (-10000, the lowest number,
/// -inf). A difference that is not its rounding is one of the others, and they are its measure.
double Peak(double max, double min, double difference, DType dtype) {
  constexpr double kMasked = 1000;
  const double larger = std::max(std::fabs(max), std::fabs(min));
  const double smaller = std::min(std::fabs(max), std::fabs(min));
  const bool masked = larger >= kMasked && larger >= kMasked * smaller && smaller > 0;
  const bool rounding =
      std::isfinite(larger) && std::fabs(difference) <= 2 * UnitRoundoff(dtype) * larger;
  return masked && !rounding && std::fabs(difference) < larger / 2 ? smaller : larger;
}

/// Max and Min in units of the larger of both, the mean in units of the root mean square.
ValueError MeasureStatistics(const dump::Record& record, const dump::Value& value,
                             const ValueResult& result, double smallest_scale) {
  const std::array<const dump::Statistic*, 4> target = {&value.max, &value.min, &value.mean,
                                                        &value.norm};
  std::array<double, 4> golden{};
  ValueError measured;
  for (size_t i = 0; i < 4; ++i) {
    if (std::isnan(result.metrics[4 + i])) continue;
    measured.compared = true;
    golden[i] = target[i]->number - result.metrics[i];
  }
  const double root_count = std::sqrt(Elements(record, value));
  const DType dtype = result.dtype_equal ? value.dtype : DType::kFloat8E8M0Fnu;  // of either side
  const auto peak = [&](size_t extreme) {
    return std::max(Peak(golden[0], golden[1], result.metrics[extreme], dtype), smallest_scale);
  };
  const double norm = std::max(std::fabs(golden[3]), smallest_scale * root_count);
  const double mean = std::max(std::fabs(golden[2]), norm / root_count);
  const std::array<double, 4> scales = {peak(0), peak(1), mean, norm};
  for (size_t i = 0; i < 4; ++i) {
    const double relative = result.metrics[4 + i];
    if (std::isnan(relative) || relative == 0) continue;
    // No difference: NaN or infinity on one side only.
    const double difference = result.metrics[i];
    measured.error =
        std::max(measured.error, std::isnan(difference) ? kInfinity : Ratio(difference, scales[i]));
  }
  return measured;
}

/// The distance in units of the norm where dump.json has it, else what the ratios leave to say.
ValueError MeasureElements(const dump::Record& record, const dump::Value& value,
                           const ValueResult& result, double smallest_scale) {
  const auto [cosine, distance, max_abs, max_relative, thousandth, five_thousandths, u1, u2] =
      result.metrics;
  if (std::isnan(thousandth)) return {};
  if (max_abs == 0) return {true, 0};
  if (!std::isfinite(distance)) return {true, kInfinity};
  // One wrong element among millions does not move the norm. Rounding moves single elements a few
  // times further than all of them together.
  constexpr double kSingleElement = 0.25;
  const DType dtype = result.dtype_equal ? value.dtype : DType::kFloat8E8M0Fnu;  // of either side
  const bool has_peak = value.max.has_number() && value.min.has_number();
  const double peak =
      has_peak ? std::max(Peak(value.max.number, value.min.number, max_abs, dtype), smallest_scale)
               : kInfinity;
  const double of_peak = kSingleElement * Ratio(max_abs, peak);
  const double root_count = std::sqrt(Elements(record, value));
  if (!value.norm.has_number() || !std::isfinite(value.norm.number)) {
    // Of a mask of -inf, for example. Nothing is known of what is finite, but for the largest.
    if (!std::isfinite(peak)) return {true, 1 - five_thousandths};
    return {true, std::max(Ratio(distance, peak * root_count), of_peak)};
  }
  const double norm = std::max(std::fabs(value.norm.number), smallest_scale * root_count);
  return {true, std::max(Ratio(distance, norm), of_peak)};
}

}  // namespace

ValueError MeasureValue(CompareMode mode, const dump::Record& record, const dump::Value& value,
                        const ValueResult& result, double smallest_scale) {
  if (value.kind != dump::ValueKind::kTensor || result.golden_value == UINT32_MAX) return {};
  switch (mode) {
    case CompareMode::kStatistics: return MeasureStatistics(record, value, result, smallest_scale);
    case CompareMode::kRealData:
      if (result.by_statistics) return MeasureStatistics(record, value, result, smallest_scale);
      return result.unreadable ? ValueError{}
                               : MeasureElements(record, value, result, smallest_scale);
    case CompareMode::kMd5: return {result.md5_compared, result.md5_equal ? 0.0 : 1.0};
    case CompareMode::kStructure: return {};
  }
  return {};
}

// A sum of K terms in precision u is off by about u √K. 16-bit and fp8 operators sum in float32
// and round once at the end, but a module is some operators one behind the other; float32
// operators may use other orders and, on some devices, shorter products. So: 4 roundings of the
// short dtypes (bfloat16 1.6e-2), 20 of float16, whose sums often stay in float16 (1e-2), and
// 8 u √K of the long ones, at least 1e-4 for float32 and 1e-10 for float64. md5 knows no rounding.
double RoundingTolerance(CompareMode mode, DType dtype, double reduction,
                         std::optional<double> roundings) {
  if (mode == CompareMode::kMd5) return 0;
  const double unit = UnitRoundoff(dtype);
  if (roundings) return *roundings * unit * std::sqrt(std::max(1.0, reduction));
  if (unit == 0x1p-11) return 20 * unit;
  if (unit > 0x1p-11) return 4 * unit;
  const double sum = 8 * unit * std::sqrt(std::max(1.0, reduction));
  if (unit == 0x1p-24) return std::max(sum, 1e-4);
  return unit == 0 ? 0 : std::max(sum, 1e-10);
}

}  // namespace msprobe::compare
