#include "stats/pair_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "stats/pair_metrics_blocks.h"
#include "stats/pair_metrics_kernels.h"
#include "tensor/dtype.h"
#include "tensor/gather.h"

namespace msprobe::stats {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kBlockElements = 2048;              // both sides, converted, stay in the L1 cache
constexpr int64_t kPartElements = int64_t{2} << 20;  // what one thread works on at a time

/// Shape and strides of both sides, with the dimensions in the order of target's memory: the
/// metrics do not depend on the order of the elements.
struct PairLayout {
  std::vector<int64_t> shape;
  std::vector<int64_t> target_strides;
  std::vector<int64_t> golden_strides;
};

std::vector<int64_t> StridesOf(const TensorView& view) {
  if (!view.strides.empty()) return {view.strides.begin(), view.strides.end()};
  std::vector<int64_t> strides(view.shape.size());
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= view.shape[i];
  }
  return strides;
}

PairLayout LayOut(const TensorView& target, const TensorView& golden) {
  const std::vector<int64_t> target_strides = StridesOf(target);
  const std::vector<int64_t> golden_strides = StridesOf(golden);
  std::vector<size_t> order(target.shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(target_strides[a]) > std::abs(target_strides[b]);
  });
  PairLayout layout;
  for (const size_t d : order) {
    if (target.shape[d] == 1) continue;
    const int64_t extent = target.shape[d];
    if (!layout.shape.empty() && layout.target_strides.back() == target_strides[d] * extent &&
        layout.golden_strides.back() == golden_strides[d] * extent) {
      layout.shape.back() *= extent;  // together they are one dimension
      layout.target_strides.back() = target_strides[d];
      layout.golden_strides.back() = golden_strides[d];
      continue;
    }
    layout.shape.push_back(extent);
    layout.target_strides.push_back(target_strides[d]);
    layout.golden_strides.push_back(golden_strides[d]);
  }
  if (layout.shape.empty()) layout = {{1}, {1}, {1}};
  return layout;
}

/// Rows [begin, begin + extent) of the first dimension.
TensorView Slice(const TensorView& view, std::span<const int64_t> shape,
                 std::span<const int64_t> strides, int64_t begin) {
  TensorView slice = view;
  slice.data += begin * strides[0] * static_cast<int64_t>(ElementSize(view.dtype));
  slice.shape = shape;
  slice.strides = strides;
  return slice;
}

/// Bits of the mantissa; -1: no float.
int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128: return 52;
    case DType::kFloat32:
    case DType::kComplex64: return 23;
    case DType::kFloat16:
    case DType::kComplex32: return 10;
    case DType::kBFloat16: return 7;
    case DType::kFloat8E4M3Fn:
    case DType::kFloat8E4M3FnUz: return 3;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FnUz: return 2;
    default: return -1;
  }
}

/// The unit in the last place of `unit`, in those of the type that is computed with.
template <class T>
int UlpShift(DType unit) {
  const int bits = MantissaBits(unit);
  return bits < 0 ? kNoUlps : std::max(0, std::numeric_limits<T>::digits - 1 - bits);
}

template <class T>
PairSums AccumulateValues(const TensorView& target, const TensorView& golden, DType unit) {
  const bool complex = tensor::IsComplex(target.dtype) || tensor::IsComplex(golden.dtype);
  ValueBlocks<T> target_blocks(target, complex, kBlockElements);
  ValueBlocks<T> golden_blocks(golden, complex, kBlockElements);
  PairSums sums;
  size_t count = 0;
  while (const T* t = target_blocks.Next(&count)) {
    const T* g = golden_blocks.Next(&count);
    AccumulatePair(t, g, count, UlpShift<T>(unit), &sums);
  }
  return sums;
}

bool Is64BitInteger(DType dtype) { return dtype == DType::kInt64 || dtype == DType::kUInt64; }

/// 64-bit integers do not fit into a float64, their difference usually does.
PairSums AccumulateIntegers(const TensorView& target, const TensorView& golden) {
  const auto load = [](DType dtype, const std::byte* from) -> __int128_t {
    uint64_t bits;
    std::memcpy(&bits, from, sizeof(bits));
    return dtype == DType::kInt64 ? __int128_t{static_cast<int64_t>(bits)} : __int128_t{bits};
  };
  tensor::BlockReader target_reader(target);
  tensor::BlockReader golden_reader(golden);
  PairSums sums;
  for (;;) {
    const auto t_block = target_reader.Next();
    const auto g_block = golden_reader.Next();
    if (t_block.empty()) return sums;
    for (size_t at = 0; at < t_block.size(); at += 8) {
      const __int128_t t = load(target.dtype, t_block.data() + at);
      const __int128_t g = load(golden.dtype, g_block.data() + at);
      const auto t_value = static_cast<double>(t);
      const auto g_value = static_cast<double>(g);
      const auto difference = static_cast<double>(t > g ? t - g : g - t);
      sums.dot += t_value * g_value;
      sums.target_squares += t_value * t_value;
      sums.golden_squares += g_value * g_value;
      sums.difference_squares += difference * difference;
      sums.max_abs = std::max(sums.max_abs, difference);
      if (difference == 0) continue;
      const double scale = std::fabs(g_value);
      sums.max_relative = std::max(sums.max_relative, difference / scale);
      sums.above_thousandth += difference >= 0.001 * scale ? 1 : 0;
      sums.above_five_thousandths += difference >= 0.005 * scale ? 1 : 0;
    }
    sums.count += t_block.size() / 8;
  }
}

bool IsPlain(const TensorView& view, DType real, DType complex) {
  return (view.dtype == real || view.dtype == complex) && !view.conjugate && !view.negative &&
         IsContiguous(view);
}

template <class T>
PairSums AccumulateInPlace(const TensorView& target, const TensorView& golden, DType unit) {
  const auto count =
      static_cast<size_t>(ElementCount(target.shape)) * (tensor::IsComplex(target.dtype) ? 2 : 1);
  PairSums sums;
  AccumulatePair(reinterpret_cast<const T*>(target.data), reinterpret_cast<const T*>(golden.data),
                 count, UlpShift<T>(unit), &sums);
  return sums;
}

/// For two tensors of the same 16-bit float type that lie in one piece; null for all others.
auto HalfKernel(const TensorView& target, const TensorView& golden)
    -> decltype(&AccumulateFloat16) {
  const auto are = [&](DType real, DType complex) {
    return target.dtype == golden.dtype && IsPlain(target, real, complex) &&
           IsPlain(golden, real, complex);
  };
  if (are(DType::kBFloat16, DType::kBFloat16)) return &AccumulateBFloat16;
  return are(DType::kFloat16, DType::kComplex32) ? &AccumulateFloat16 : nullptr;
}

PairSums AccumulatePart(const TensorView& target, const TensorView& golden, DType unit) {
  if (target.dtype == golden.dtype) {
    if (IsPlain(target, DType::kFloat32, DType::kComplex64) &&
        IsPlain(golden, DType::kFloat32, DType::kComplex64)) {
      return AccumulateInPlace<float>(target, golden, unit);
    }
    if (IsPlain(target, DType::kFloat64, DType::kComplex128) &&
        IsPlain(golden, DType::kFloat64, DType::kComplex128)) {
      return AccumulateInPlace<double>(target, golden, unit);
    }
  }
  if (const auto accumulate = HalfKernel(target, golden)) {
    const auto count = static_cast<size_t>(ElementCount(target.shape));
    PairSums sums;
    accumulate(target.data, golden.data, tensor::IsComplex(target.dtype) ? 2 * count : count,
               &sums);
    return sums;
  }
  if (Is64BitInteger(target.dtype) && Is64BitInteger(golden.dtype)) {
    return AccumulateIntegers(target, golden);
  }
  if (FitsFloat32(target.dtype) && FitsFloat32(golden.dtype)) {
    return AccumulateValues<float>(target, golden, unit);
  }
  return AccumulateValues<double>(target, golden, unit);
}

struct Scales {
  double target = 1;
  double golden = 1;
  double difference = 1;
};

/// A power of two that brings `largest` near 1, so that squares neither overflow nor vanish.
double ScaleFor(double largest) {
  if (largest == 0 || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
}

template <class Visit>
void ForEachFinite(const TensorView& target, const TensorView& golden, const Visit& visit) {
  const bool complex = tensor::IsComplex(target.dtype) || tensor::IsComplex(golden.dtype);
  ValueBlocks<double> target_blocks(target, complex, kBlockElements);
  ValueBlocks<double> golden_blocks(golden, complex, kBlockElements);
  size_t count = 0;
  while (const double* t = target_blocks.Next(&count)) {
    const double* g = golden_blocks.Next(&count);
    for (size_t i = 0; i < count; ++i) {
      if (std::isfinite(t[i]) && std::isfinite(g[i])) visit(t[i], g[i]);
    }
  }
}

/// The sums again, of scaled values: for float64 beyond about 1e150 or below 1e-150.
Scales SumScaled(const TensorView& target, const TensorView& golden, PairSums* sums) {
  double largest_target = 0;
  double largest_golden = 0;
  ForEachFinite(target, golden, [&](double t, double g) {
    largest_target = std::max(largest_target, std::fabs(t));
    largest_golden = std::max(largest_golden, std::fabs(g));
  });
  Scales scales;
  scales.target = ScaleFor(largest_target);
  scales.golden = ScaleFor(largest_golden);
  scales.difference = ScaleFor(sums->max_abs);
  sums->dot = sums->target_squares = sums->golden_squares = sums->difference_squares = 0;
  ForEachFinite(target, golden, [&](double t, double g) {
    const double scaled_target = t * scales.target;
    const double scaled_golden = g * scales.golden;
    const double difference = (t - g) * scales.difference;
    sums->dot += scaled_target * scaled_golden;
    sums->target_squares += scaled_target * scaled_target;
    sums->golden_squares += scaled_golden * scaled_golden;
    sums->difference_squares += difference * difference;
  });
  return scales;
}

bool SquaresAreOff(const PairSums& sums) {
  constexpr double kTiny = 1e-280;
  if (!std::isfinite(sums.target_squares + sums.golden_squares + sums.difference_squares)) {
    return true;
  }
  return sums.target_squares < kTiny || sums.golden_squares < kTiny ||
         (sums.max_abs > 0 && sums.difference_squares < kTiny);
}

double Cosine(const PairSums& sums) {
  if (sums.max_abs == 0) return 1;
  const double norms = std::sqrt(sums.target_squares) * std::sqrt(sums.golden_squares);
  return std::clamp(sums.dot / norms, -1.0, 1.0);
}

PairMetrics Finish(const PairSums& sums, const Scales& scales) {
  PairMetrics metrics;
  metrics.count = sums.count;
  metrics.special_both = sums.nan_both;
  metrics.special_mismatch = sums.mismatch;
  metrics.ulps = sums.ulps;
  const bool one_zero = (sums.target_squares == 0) != (sums.golden_squares == 0);
  metrics.cosine_defined = sums.mismatch == 0 && !one_zero;
  metrics.cosine = metrics.cosine_defined ? Cosine(sums) : 0;
  metrics.euclidean_distance = std::sqrt(sums.difference_squares) / scales.difference;
  metrics.max_abs_error = sums.max_abs;
  metrics.max_relative_error = sums.max_relative;
  if (sums.mismatch > 0) {
    metrics.euclidean_distance = metrics.max_abs_error = metrics.max_relative_error = kInfinity;
  }
  if (sums.count > 0) {
    const auto share = [&](uint64_t above) {
      return static_cast<double>(sums.count - above - sums.mismatch) /
             static_cast<double>(sums.count);
    };
    metrics.ratio_thousandth = share(sums.above_thousandth);
    metrics.ratio_five_thousandths = share(sums.above_five_thousandths);
  }
  return metrics;
}

PairSums AccumulateParts(const TensorView& target, const TensorView& golden,
                         const PairLayout& layout, DType unit, size_t threads,
                         const base::CancelToken* cancel) {
  const int64_t row = std::max<int64_t>(1, ElementCount(layout.shape) / layout.shape[0]);
  const int64_t rows = std::max<int64_t>(1, kPartElements / row);
  const auto parts = static_cast<size_t>((layout.shape[0] + rows - 1) / rows);
  std::vector<PairSums> sums(parts);
  base::ParallelFor(parts, 1, threads, [&](size_t first, size_t last) {
    std::vector<int64_t> shape = layout.shape;
    for (size_t part = first; part < last; ++part) {
      if (cancel != nullptr && cancel->cancelled()) return;
      const auto begin = static_cast<int64_t>(part) * rows;
      shape[0] = std::min(rows, layout.shape[0] - begin);
      sums[part] = AccumulatePart(Slice(target, shape, layout.target_strides, begin),
                                  Slice(golden, shape, layout.golden_strides, begin), unit);
    }
  });
  for (size_t part = 1; part < parts; ++part) sums[0].Merge(sums[part]);
  return sums[0];
}

}  // namespace

Result<PairMetrics> ComparePair(const TensorView& target, const TensorView& golden, size_t threads,
                                const base::CancelToken* cancel, DType unit) {
  if (!std::equal(target.shape.begin(), target.shape.end(), golden.shape.begin(),
                  golden.shape.end())) {
    return InvalidArgumentError("the shapes of the two tensors differ");
  }
  if (ElementSize(target.dtype) == 0 || ElementSize(golden.dtype) == 0) {
    return UnsupportedError("the dtype of a tensor is not known");
  }
  if (ElementCount(target.shape) == 0) return PairMetrics{};
  if (unit == DType::kUnknown) {
    unit = MantissaBits(target.dtype) < MantissaBits(golden.dtype) ? target.dtype : golden.dtype;
  }
  const PairLayout layout = LayOut(target, golden);
  PairSums sums = AccumulateParts(target, golden, layout, unit, threads, cancel);
  if (cancel != nullptr && cancel->cancelled()) return CancelledError();
  Scales scales;
  const bool wide = !FitsFloat32(target.dtype) || !FitsFloat32(golden.dtype);
  if (wide && SquaresAreOff(sums)) {
    scales = SumScaled(Slice(target, layout.shape, layout.target_strides, 0),
                       Slice(golden, layout.shape, layout.golden_strides, 0), &sums);
  }
  return Finish(sums, scales);
}

}  // namespace msprobe::stats
