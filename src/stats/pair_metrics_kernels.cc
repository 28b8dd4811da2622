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
constexpr size_t kHalfBlock = 1024;      // the same where they are float32
constexpr size_t kPrefetchBytes = 1024;  // ahead of the loads: hides most of the DRAM latency

// Counting units in the last place costs half as much as all the rest: of many elements a sample
// will do.
constexpr size_t kUlpSampleFrom = 65536;
constexpr size_t kUlpSampleEvery = 8;  // blocks

bool CountsUlps(size_t block, size_t count) {
  return count <= kUlpSampleFrom || block % kUlpSampleEvery == 0;
}

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;

// Loads the elements of two vectors; in which order they stand there does not matter.
template <class T>
struct LoadWide {
  HWY_INLINE void operator()(const T* from, hn::Vec<F64>* first, hn::Vec<F64>* second) const {
    *first = Load(from);
    *second = Load(from + hn::Lanes(F64()));
  }
  HWY_INLINE hn::Vec<F64> Load(const T* from) const {
    const F64 d;
    if constexpr (std::is_same_v<T, double>) {
      return hn::LoadU(d, from);
    } else {
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, F64>(), from));
    }
  }
};

// Counts lanes that are set. Where masks are vectors, a vector counts.
template <class D>
class LaneCounter {
 public:
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  HWY_INLINE void Add(hn::Mask<D> mask) { count_ += hn::CountTrue(D(), mask); }
  HWY_INLINE size_t count() const { return count_; }

 private:
  size_t count_ = 0;
#else
  HWY_INLINE LaneCounter() : counts_(hn::Zero(hn::RebindToSigned<D>())) {}
  HWY_INLINE void Add(hn::Mask<D> mask) {
    counts_ = hn::Sub(counts_, hn::BitCast(di_, hn::VecFromMask(D(), mask)));
  }
  HWY_INLINE size_t count() const {
    return static_cast<size_t>(hn::GetLane(hn::SumOfLanes(di_, counts_)));
  }

 private:
  hn::RebindToSigned<D> di_;
  hn::Vec<hn::RebindToSigned<D> > counts_ = hn::Zero(hn::RebindToSigned<D>());
#endif
};

// The running values of one block, in the arithmetic of D. The largest relative error is one number
// for all lanes: then the division, which costs more than all the rest, is needed a few times in a
// block. It is divided in float64 for any D.
template <class D>
class Accumulator {
 public:
  using T = hn::TFromD<D>;
  using Vector = hn::Vec<D>;

  explicit HWY_INLINE Accumulator(double max_relative)
      : dot_(hn::Zero(d_)),
        target_squares_(hn::Zero(d_)),
        golden_squares_(hn::Zero(d_)),
        difference_squares_(hn::Zero(d_)),
        max_abs_(hn::Zero(d_)),
        bound_(hn::Set(d_, RoundedUp(max_relative))),
        max_relative_(max_relative) {}

  HWY_INLINE void Add(Vector t, Vector g) {
    const Vector difference = hn::Abs(hn::Sub(t, g));
    const Vector scale = hn::Abs(g);
    dot_ = hn::MulAdd(t, g, dot_);
    target_squares_ = hn::MulAdd(t, t, target_squares_);
    golden_squares_ = hn::MulAdd(g, g, golden_squares_);
    difference_squares_ = hn::MulAdd(difference, difference, difference_squares_);
    max_abs_ = hn::Max(max_abs_, difference);
    above_thousandth_.Add(Above(difference, scale, static_cast<T>(0.001)));
    above_five_thousandths_.Add(Above(difference, scale, static_cast<T>(0.005)));
    if (HWY_UNLIKELY(!hn::AllFalse(d_, hn::Gt(difference, hn::Mul(scale, bound_))))) {
      max_relative_ = LargestRelative(difference, scale, max_relative_);
      bound_ = hn::Set(d_, RoundedUp(max_relative_));
    }
  }

  HWY_INLINE void Store(PairSums* sums) const {
    sums->above_thousandth = above_thousandth_.count();
    sums->above_five_thousandths = above_five_thousandths_.count();
    sums->dot = Sum(dot_);
    sums->target_squares = Sum(target_squares_);
    sums->golden_squares = Sum(golden_squares_);
    sums->difference_squares = Sum(difference_squares_);
    sums->max_abs = hn::GetLane(hn::MaxOfLanes(d_, max_abs_));
    sums->max_relative = max_relative_;
  }

 private:
  static T RoundedUp(double value) {
    const auto rounded = static_cast<T>(value);
    return rounded < value ? std::nextafter(rounded, std::numeric_limits<T>::infinity()) : rounded;
  }
  // Equal elements are never above, also where the limit is 0 because golden is: what differs does
  // so by the smallest number at least.
  HWY_INLINE hn::Mask<D> Above(Vector difference, Vector scale, T limit) const {
    const auto smallest = hn::Set(d_, std::numeric_limits<T>::denorm_min());
    return hn::Ge(difference, hn::Max(hn::Mul(scale, hn::Set(d_, limit)), smallest));
  }
  // Takes no reference to the sums, which stay in registers that way.
  static HWY_NOINLINE double LargestRelative(Vector difference, Vector scale, double largest) {
    const D d;
    HWY_ALIGN T differences[hn::MaxLanes(D())];
    HWY_ALIGN T scales[hn::MaxLanes(D())];
    hn::Store(difference, d, differences);
    hn::Store(scale, d, scales);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      if (!(differences[i] > 0)) continue;
      const double relative = static_cast<double>(differences[i]) / static_cast<double>(scales[i]);
      largest = std::max(largest, relative);
    }
    return largest;
  }
  HWY_INLINE double Sum(Vector v) const { return hn::GetLane(hn::SumOfLanes(d_, v)); }

  D d_;
  Vector dot_, target_squares_, golden_squares_, difference_squares_, max_abs_, bound_;
  double max_relative_;
  LaneCounter<D> above_thousandth_, above_five_thousandths_;
};

template <class D, class T, class Load, class Add>
HWY_INLINE void AddTwo(const T* target, const T* golden, const Load& load, const Add& add) {
  hn::Vec<D> t[2], g[2];
  load(target, &t[0], &t[1]);
  load(golden, &g[0], &g[1]);
  add(t[0], g[0]);
  add(t[1], g[1]);
}

// Calls add(t, g) for all vectors of D that `load` makes; the tail is filled up with pairs of
// zeros, which add nothing.
template <class D, class T, class Load, class Add>
HWY_INLINE void ForEachVector(const T* target, const T* golden, size_t count, const Load& load,
                              const Add& add) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    hwy::Prefetch(reinterpret_cast<const char*>(target + i) + kPrefetchBytes);
    hwy::Prefetch(reinterpret_cast<const char*>(golden + i) + kPrefetchBytes);
    AddTwo<D>(target + i, golden + i, load, add);
  }
  if (i == count) return;
  HWY_ALIGN T tail[2][2 * hn::MaxLanes(D())] = {};
  std::memcpy(tail[0], target + i, (count - i) * sizeof(T));
  std::memcpy(tail[1], golden + i, (count - i) * sizeof(T));
  AddTwo<D>(tail[0], tail[1], load, add);
}

template <class D, class T, class Load>
void AccumulateFinite(const T* target, const T* golden, size_t count, const Load& load,
                      PairSums* block) {
  Accumulator<D> sums(block->max_relative);
  ForEachVector<D>(target, golden, count, load, [&](auto t, auto g) HWY_ATTR { sums.Add(t, g); });
  sums.Store(block);
}

template <class T>
void AccumulateSpecial(const T* target, const T* golden, size_t count, PairSums* block) {
  const F64 d;
  Accumulator<F64> sums(block->max_relative);
  ForEachVector<F64>(target, golden, count, LoadWide<T>(), [&](auto t, auto g) HWY_ATTR {
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
void Accumulate(const T* target, const T* golden, size_t count, int ulp_shift, PairSums* sums) {
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t size = std::min(kBlock, count - begin);
    PairSums block;
    block.max_relative = sums->max_relative;
    AccumulateFinite<F64>(target + begin, golden + begin, size, LoadWide<T>(), &block);
    // NaN and infinities show in the sums of squares, so looking for them costs nothing before.
    const bool special = !std::isfinite(block.target_squares + block.golden_squares);
    if (special) {
      block = {};
      block.max_relative = sums->max_relative;
      AccumulateSpecial(target + begin, golden + begin, size, &block);
    }
    block.count = size;
    if (ulp_shift != kNoUlps && CountsUlps(begin / kBlock, count)) {
      if (special) {
        CountSpecialUlps(target + begin, golden + begin, size, ulp_shift, &block.ulps);
      } else if (block.max_abs > 0) {
        CountUlps(target + begin, golden + begin, size, ulp_shift, &block.ulps);
      } else {
        block.ulps[0] = size;
      }
    }
    sums->Merge(block);
  }
}

void AccumulateF32(const float* target, const float* golden, size_t count, int ulp_shift,
                   PairSums* sums) {
  Accumulate(target, golden, count, ulp_shift, sums);
}

void AccumulateF64(const double* target, const double* golden, size_t count, int ulp_shift,
                   PairSums* sums) {
  Accumulate(target, golden, count, ulp_shift, sums);
}

// The float32 of 16-bit numbers, a vector or two at a time.
struct WidenBFloat {
  // Of each pair of numbers one to each vector: a word of memory holds both, nearly as they are.
  HWY_INLINE void operator()(const uint16_t* from, hn::Vec<F32>* first,
                             hn::Vec<F32>* second) const {
    const F32 df;
    const hn::RebindToUnsigned<F32> du;
    const hn::Repartition<uint16_t, F32> words;
    const auto both = hn::BitCast(du, hn::LoadU(words, from));
    *first = hn::BitCast(df, hn::ShiftLeft<16>(both));
    *second = hn::BitCast(df, hn::And(both, hn::Set(du, 0xffff0000u)));
  }
  HWY_INLINE hn::Vec<F32> operator()(const uint16_t* from) const {
    const F32 df;
    const hn::RebindToUnsigned<F32> du;
    const auto words = hn::LoadU(hn::Rebind<uint16_t, F32>(), from);
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, words)));
  }
};

struct WidenHalf {
  HWY_INLINE void operator()(const uint16_t* from, hn::Vec<F32>* first,
                             hn::Vec<F32>* second) const {
    *first = (*this)(from);
    *second = (*this)(from + hn::Lanes(F32()));
  }
  HWY_INLINE hn::Vec<F32> operator()(const uint16_t* from) const {
    const F32 df;
    const auto words = hn::LoadU(hn::Rebind<uint16_t, F32>(), from);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    return hn::PromoteTo(df, hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), words));
#else  // Highway's conversion without such an instruction does not know NaN and Inf
    const hn::RebindToUnsigned<F32> du;
    const hn::RebindToSigned<F32> di;
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
#endif
  }
};

template <class Widen>
HWY_INLINE void WidenAll(const uint16_t* from, size_t count, float* to, const Widen& widen) {
  const F32 df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hwy::Prefetch(reinterpret_cast<const char*>(from + i) + kPrefetchBytes);
    hn::StoreU(widen(from + i), df, to + i);
  }
  if (i == count) return;
  HWY_ALIGN uint16_t tail[hn::MaxLanes(F32())] = {};
  HWY_ALIGN float wide[hn::MaxLanes(F32())];
  std::memcpy(tail, from + i, (count - i) * sizeof(uint16_t));
  hn::Store(widen(tail), df, wide);
  std::memcpy(to + i, wide, (count - i) * sizeof(float));
}

// True where float32 cannot have held the sums: infinite, or so small that squares were lost.
bool NeedsFloat64(const PairSums& block) {
  constexpr double kSmall = 0x1p-90;
  const double largest = block.target_squares + block.golden_squares + block.difference_squares;
  if (!std::isfinite(largest)) return true;
  return block.target_squares < kSmall || block.golden_squares < kSmall ||
         (block.max_abs > 0 && block.difference_squares < kSmall);
}

// Two tensors of one 16-bit type: float32 holds their elements and, but for elements of very
// different size, their differences.
template <class Widen>
void AccumulateHalves(const uint16_t* target, const uint16_t* golden, size_t count,
                      const Widen& widen, uint16_t infinity, PairSums* sums) {
  for (size_t begin = 0; begin < count; begin += kHalfBlock) {
    const size_t size = std::min(kHalfBlock, count - begin);
    PairSums block;
    block.max_relative = sums->max_relative;
    AccumulateFinite<F32>(target + begin, golden + begin, size, widen, &block);
    bool special = false;
    if (NeedsFloat64(block)) {
      HWY_ALIGN float wide[2][kHalfBlock];
      WidenAll(target + begin, size, wide[0], widen);
      WidenAll(golden + begin, size, wide[1], widen);
      special = !std::isfinite(block.target_squares + block.golden_squares);
      block = {};
      block.max_relative = sums->max_relative;
      Accumulate(wide[0], wide[1], size, kNoUlps, &block);
    }
    block.count = size;
    if (!CountsUlps(begin / kHalfBlock, count)) {
      // Not in the sample.
    } else if (special) {
      CountSpecialUlps(target + begin, golden + begin, size, infinity, &block.ulps);
    } else if (block.max_abs > 0) {
      CountUlps(target + begin, golden + begin, size, &block.ulps);
    } else {
      block.ulps[0] = size;
    }
    sums->Merge(block);
  }
}

const uint16_t* Words(const std::byte* bytes) { return reinterpret_cast<const uint16_t*>(bytes); }

void AccumulateBF16(const std::byte* target, const std::byte* golden, size_t count,
                    PairSums* sums) {
  AccumulateHalves(Words(target), Words(golden), count, WidenBFloat(), 0x7f80, sums);
}

void AccumulateF16(const std::byte* target, const std::byte* golden, size_t count, PairSums* sums) {
  AccumulateHalves(Words(target), Words(golden), count, WidenHalf(), 0x7c00, sums);
}

void WidenBF16(const std::byte* from, size_t count, float* to) {
  WidenAll(Words(from), count, to, WidenBFloat());
}

void WidenF16(const std::byte* from, size_t count, float* to) {
  WidenAll(Words(from), count, to, WidenHalf());
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::stats {

HWY_EXPORT(AccumulateF32);
HWY_EXPORT(AccumulateF64);
HWY_EXPORT(AccumulateBF16);
HWY_EXPORT(AccumulateF16);
HWY_EXPORT(WidenBF16);
HWY_EXPORT(WidenF16);

void AccumulatePair(const float* target, const float* golden, size_t count, int ulp_shift,
                    PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF32)(target, golden, count, ulp_shift, sums);
}

void AccumulatePair(const double* target, const double* golden, size_t count, int ulp_shift,
                    PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF64)(target, golden, count, ulp_shift, sums);
}

void AccumulateBFloat16(const std::byte* target, const std::byte* golden, size_t count,
                        PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateBF16)(target, golden, count, sums);
}

void AccumulateFloat16(const std::byte* target, const std::byte* golden, size_t count,
                       PairSums* sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF16)(target, golden, count, sums);
}

void WidenBFloat16(const std::byte* from, size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(WidenBF16)(from, count, to);
}

void WidenFloat16(const std::byte* from, size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(WidenF16)(from, count, to);
}

}  // namespace msprobe::stats
#endif
