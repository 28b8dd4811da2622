#include "stats/pair_metrics_kernels.h"

#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/pair_metrics_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each instruction set.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::stats {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = 4096;          // elements between two looks at the sums
constexpr size_t kPrefetchBytes = 1024;  // ahead of the loads: hides most of the DRAM latency

using F64 = hn::ScalableTag<double>;
using Vector = hn::Vec<F64>;

template <class T>
HWY_INLINE Vector LoadWide(const T* from) {
  const F64 d;
  if constexpr (std::is_same_v<T, double>) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, F64>(), from));
  }
}

// The running values of one block. The largest relative error is one number for all lanes: then
// the division, which costs more than all the rest, is needed a few times in a block.
template <class T>
class Accumulator {
 public:
  explicit HWY_INLINE Accumulator(double max_relative)
      : dot_(hn::Zero(d_)),
        target_squares_(hn::Zero(d_)),
        golden_squares_(hn::Zero(d_)),
        difference_squares_(hn::Zero(d_)),
        max_abs_(hn::Zero(d_)),
        max_relative_(hn::Set(d_, max_relative)) {}

  HWY_INLINE void Add(Vector t, Vector g) {
    const Vector difference = hn::Abs(hn::Sub(t, g));
    const Vector scale = hn::Abs(g);
    dot_ = hn::MulAdd(t, g, dot_);
    target_squares_ = hn::MulAdd(t, t, target_squares_);
    golden_squares_ = hn::MulAdd(g, g, golden_squares_);
    difference_squares_ = hn::MulAdd(difference, difference, difference_squares_);
    max_abs_ = hn::Max(max_abs_, difference);
    above_thousandth_ += CountAbove(difference, hn::Mul(scale, hn::Set(d_, 0.001)));
    above_five_thousandths_ += CountAbove(difference, hn::Mul(scale, hn::Set(d_, 0.005)));
    const auto larger = hn::Gt(difference, hn::Mul(scale, max_relative_));
    if (HWY_UNLIKELY(!hn::AllFalse(d_, larger))) {
      const Vector relative = hn::IfThenElseZero(larger, hn::Div(difference, scale));
      max_relative_ = hn::Max(max_relative_, hn::MaxOfLanes(d_, relative));
    }
  }

  HWY_INLINE void Store(PairSums* sums) const {
    sums->above_thousandth = above_thousandth_;
    sums->above_five_thousandths = above_five_thousandths_;
    sums->dot = Sum(dot_);
    sums->target_squares = Sum(target_squares_);
    sums->golden_squares = Sum(golden_squares_);
    sums->difference_squares = Sum(difference_squares_);
    sums->max_abs = hn::GetLane(hn::MaxOfLanes(d_, max_abs_));
    sums->max_relative = hn::GetLane(max_relative_);
  }

 private:
  // Equal elements are never above, also where the limit is 0 because golden is.
  HWY_INLINE size_t CountAbove(Vector difference, Vector limit) const {
    if constexpr (std::is_same_v<T, double>) {
      return hn::CountTrue(d_,
                           hn::And(hn::Ge(difference, limit), hn::Gt(difference, hn::Zero(d_))));
    } else {
      // Two float32 are equal or differ by more than this.
      const Vector smallest = hn::Set(d_, std::numeric_limits<double>::min());
      return hn::CountTrue(d_, hn::Ge(difference, hn::Max(limit, smallest)));
    }
  }
  HWY_INLINE double Sum(Vector v) const { return hn::GetLane(hn::SumOfLanes(d_, v)); }

  F64 d_;
  Vector dot_, target_squares_, golden_squares_, difference_squares_, max_abs_, max_relative_;
  size_t above_thousandth_ = 0;
  size_t above_five_thousandths_ = 0;
};

// Calls add(t, g) for all vectors; the tail is filled up with pairs of zeros, which add nothing.
template <class T, class Add>
HWY_INLINE void ForEachVector(const T* target, const T* golden, size_t count, const Add& add) {
  const size_t lanes = hn::Lanes(F64());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hwy::Prefetch(reinterpret_cast<const char*>(target + i) + kPrefetchBytes);
    hwy::Prefetch(reinterpret_cast<const char*>(golden + i) + kPrefetchBytes);
    add(LoadWide(target + i), LoadWide(golden + i));
  }
  if (i == count) return;
  HWY_ALIGN T tail[2][hn::MaxLanes(F64())] = {};
  std::memcpy(tail[0], target + i, (count - i) * sizeof(T));
  std::memcpy(tail[1], golden + i, (count - i) * sizeof(T));
  add(LoadWide(tail[0]), LoadWide(tail[1]));
}

template <class T>
void AccumulateFinite(const T* target, const T* golden, size_t count, PairSums* block) {
  Accumulator<T> sums(block->max_relative);
  ForEachVector(target, golden, count, [&](Vector t, Vector g) HWY_ATTR { sums.Add(t, g); });
  sums.Store(block);
}

template <class T>
void AccumulateSpecial(const T* target, const T* golden, size_t count, PairSums* block) {
  const F64 d;
  Accumulator<T> sums(block->max_relative);
  ForEachVector(target, golden, count, [&](Vector t, Vector g) HWY_ATTR {
    const auto finite = hn::And(hn::IsFinite(t), hn::IsFinite(g));
    const auto nan = hn::And(hn::IsNaN(t), hn::IsNaN(g));
    const auto same = hn::Or(hn::Or(nan, finite), hn::Eq(t, g));
    block->nan_both += hn::CountTrue(d, nan);
    block->mismatch += hn::CountTrue(d, hn::Not(same));
    sums.Add(hn::IfThenElseZero(finite, t), hn::IfThenElseZero(finite, g));
  });
  sums.Store(block);
}

template <class T>
void Accumulate(const T* target, const T* golden, size_t count, PairSums* sums) {
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t size = std::min(kBlock, count - begin);
    PairSums block;
    block.max_relative = sums->max_relative;
    AccumulateFinite(target + begin, golden + begin, size, &block);
    // NaN and infinities show in the sums of squares, so looking for them costs nothing before.
    if (!std::isfinite(block.target_squares + block.golden_squares)) {
      block = {};
      block.max_relative = sums->max_relative;
      AccumulateSpecial(target + begin, golden + begin, size, &block);
    }
    block.count = size;
    sums->Merge(block);
  }
}

void AccumulateF32(const float* target, const float* golden, size_t count, PairSums* sums) {
  Accumulate(target, golden, count, sums);
}

void AccumulateF64(const double* target, const double* golden, size_t count, PairSums* sums) {
  Accumulate(target, golden, count, sums);
}

// `widen(u16 vector as u32)` makes the float of 16 bits in the low half of each lane.
template <class Widen>
HWY_INLINE void WidenAll(const std::byte* from, size_t count, float* to, const Widen& widen) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  const size_t lanes = hn::Lanes(df);
  const auto* words = reinterpret_cast<const uint16_t*>(from);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hwy::Prefetch(from + 2 * i + kPrefetchBytes);
    hn::StoreU(widen(hn::LoadU(d16, words + i)), df, to + i);
  }
  if (i == count) return;
  HWY_ALIGN uint16_t tail[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  HWY_ALIGN float wide[hn::MaxLanes(hn::ScalableTag<float>())];
  std::memcpy(tail, from + 2 * i, (count - i) * 2);
  hn::Store(widen(hn::LoadU(d16, tail)), df, wide);
  std::memcpy(to + i, wide, (count - i) * sizeof(float));
}

void WidenBF16(const std::byte* from, size_t count, float* to) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  WidenAll(from, count, to, [&](auto words) HWY_ATTR {
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, words)));
  });
}

void WidenF16(const std::byte* from, size_t count, float* to) {
  const hn::ScalableTag<float> df;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  WidenAll(from, count, to,
           [&](auto words) HWY_ATTR { return hn::PromoteTo(df, hn::BitCast(dh, words)); });
#else  // Highway's conversion without such an instruction does not know NaN and Inf
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  WidenAll(from, count, to, [&](auto words) HWY_ATTR {
    const auto word = hn::BitCast(di, hn::PromoteTo(du, words));
    const auto magnitude = hn::And(word, hn::Set(di, 0x7fff));
    const auto sign = hn::ShiftLeft<16>(hn::Sub(word, magnitude));
    const auto bias = hn::Set(di, 112 << 23);  // difference of the exponent biases
    auto bits = hn::Add(hn::ShiftLeft<13>(magnitude), bias);
    const auto special = hn::Gt(magnitude, hn::Set(di, 0x7bff));
    bits = hn::IfThenElse(special, hn::Add(bits, bias), bits);
    const auto small = hn::Mul(hn::ConvertTo(df, magnitude), hn::Set(df, 0x1p-24f));
    const auto subnormal = hn::Lt(magnitude, hn::Set(di, 0x0400));
    bits = hn::IfThenElse(subnormal, hn::BitCast(di, small), bits);
    return hn::BitCast(df, hn::Or(bits, sign));
  });
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::stats {

HWY_EXPORT(AccumulateF32);
HWY_EXPORT(AccumulateF64);
HWY_EXPORT(WidenBF16);
HWY_EXPORT(WidenF16);

void AccumulatePair(const float* target, const float* golden, size_t count, PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF32)(target, golden, count, sums);
}

void AccumulatePair(const double* target, const double* golden, size_t count, PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF64)(target, golden, count, sums);
}

void WidenBFloat16(const std::byte* from, size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(WidenBF16)(from, count, to);
}

void WidenFloat16(const std::byte* from, size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(WidenF16)(from, count, to);
}

}  // namespace msprobe::stats
#endif
