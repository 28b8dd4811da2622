#include "stats/ulp_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/ulp_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each instruction set.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::stats {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kClasses = kUlpClasses.size();

// Numbers of sign and magnitude as two's complement: neighbours are one apart, and -0 is 0.
template <class D, class V>
HWY_INLINE V Ordered(D d, V bits) {
  const auto sign = hn::BroadcastSignBit(bits);
  const auto magnitude = hn::And(bits, hn::Set(d, hwy::LimitsMax<hn::TFromD<D>>()));
  return hn::Sub(hn::Xor(magnitude, sign), sign);
}

// Distances of finite numbers, at most the largest signed one.
template <class D, class V>
HWY_INLINE V Distance(D d, V target, V golden, int shift) {
  const hn::RebindToUnsigned<D> du;
  const auto a = Ordered(d, target);
  const auto b = Ordered(d, golden);
  auto distance = hn::BitCast(du, hn::Sub(hn::Max(a, b), hn::Min(a, b)));
  using U = hn::TFromD<hn::RebindToUnsigned<D>>;
  if (shift > 0) {
    distance = hn::ShiftRightSame(distance, shift - 1);
    distance = hn::ShiftRight<1>(hn::Add(distance, hn::Set(du, U{1})));
  }
  constexpr U kMost = static_cast<U>(hwy::LimitsMax<hn::TFromD<D>>());
  return hn::BitCast(d, hn::Min(distance, hn::Set(du, kMost)));
}

// Counts of finite elements that are at least in class 1, 2, … apart. `count` is so small that the
// lanes cannot overflow.
template <class D, class T>
HWY_INLINE void CountAbove(D d, const T* target, const T* golden, size_t count, int shift,
                           uint64_t* above) {
  using I = hn::TFromD<D>;
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  V c1 = hn::Zero(d), c2 = c1, c3 = c1, c4 = c1, c5 = c1, c6 = c1, c7 = c1;
  const auto add = [&](V t, V g) HWY_ATTR {
    const V distance = Distance(d, t, g, shift);
    const auto more = [&](size_t k, V c) HWY_ATTR {
      const V below = hn::Set(d, static_cast<I>(kUlpClasses[k] - 1));
      return hn::Sub(c, hn::VecFromMask(d, hn::Gt(distance, below)));
    };
    c1 = more(1, c1);
    c2 = more(2, c2);
    c3 = more(3, c3);
    c4 = more(4, c4);
    c5 = more(5, c5);
    c6 = more(6, c6);
    c7 = more(7, c7);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    add(hn::LoadU(d, reinterpret_cast<const I*>(target + i)),
        hn::LoadU(d, reinterpret_cast<const I*>(golden + i)));
  }
  if (i < count) {
    HWY_ALIGN I tail[2][hn::MaxLanes(D())] = {};
    std::memcpy(tail[0], target + i, (count - i) * sizeof(T));
    std::memcpy(tail[1], golden + i, (count - i) * sizeof(T));
    add(hn::Load(d, tail[0]), hn::Load(d, tail[1]));
  }
  const V all[kClasses - 1] = {c1, c2, c3, c4, c5, c6, c7};
  for (size_t k = 1; k < kClasses; ++k) {
    HWY_ALIGN I sums[hn::MaxLanes(D())];
    hn::Store(all[k - 1], d, sums);
    for (size_t lane = 0; lane < lanes; ++lane) above[k] += static_cast<uint64_t>(sums[lane]);
  }
}

template <class I, class T>
void Count(const T* target, const T* golden, size_t count, int shift, UlpCounts* counts) {
  constexpr size_t kBlock = 4096;  // a lane counts at most that much
  uint64_t above[kClasses + 1] = {};
  above[0] = count;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    CountAbove(hn::ScalableTag<I>(), target + begin, golden + begin,
               std::min(kBlock, count - begin), shift, above);
  }
  for (size_t k = 0; k < kClasses; ++k) (*counts)[k] += above[k] - above[k + 1];
}

void CountF32(const float* target, const float* golden, size_t count, int shift,
              UlpCounts* counts) {
  Count<int32_t>(target, golden, count, shift, counts);
}

void CountF64(const double* target, const double* golden, size_t count, int shift,
              UlpCounts* counts) {
  Count<int64_t>(target, golden, count, shift, counts);
}

void CountHalf(const uint16_t* target, const uint16_t* golden, size_t count, UlpCounts* counts) {
  Count<int16_t>(target, golden, count, 0, counts);
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::stats {
namespace {

HWY_EXPORT(CountF32);
HWY_EXPORT(CountF64);
HWY_EXPORT(CountHalf);

template <class Word>
size_t ClassOf(Word target, Word golden, int shift) {
  const auto ordered = [](Word word) {
    constexpr Word kSign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    const Word magnitude = static_cast<Word>(word & ~kSign);
    return static_cast<Word>((word & kSign) != 0 ? kSign - magnitude : kSign + magnitude);
  };
  const Word a = ordered(target);
  const Word b = ordered(golden);
  Word distance = static_cast<Word>(a > b ? a - b : b - a);
  if (shift > 0) distance = static_cast<Word>(((distance >> (shift - 1)) + 1) >> 1);
  size_t k = kUlpClasses.size() - 1;
  while (k > 0 && distance < kUlpClasses[k]) --k;
  return k;
}

template <class Word, class T>
void CountSpecial(const T* target, const T* golden, size_t count, Word infinity, int shift,
                  UlpCounts* counts) {
  constexpr Word kMagnitude = static_cast<Word>(~Word{0} >> 1);
  for (size_t i = 0; i < count; ++i) {
    Word t, g;
    std::memcpy(&t, target + i, sizeof(t));
    std::memcpy(&g, golden + i, sizeof(g));
    const Word largest = std::max<Word>(t & kMagnitude, g & kMagnitude);
    const bool both_nan = std::min<Word>(t & kMagnitude, g & kMagnitude) > infinity;
    const size_t special = both_nan || t == g ? 0 : kUlpClasses.size() - 1;
    ++(*counts)[largest < infinity ? ClassOf(t, g, shift) : special];
  }
}

}  // namespace

void CountUlps(const float* target, const float* golden, size_t count, int shift,
               UlpCounts* counts) {
  HWY_DYNAMIC_DISPATCH(CountF32)(target, golden, count, shift, counts);
}

void CountUlps(const double* target, const double* golden, size_t count, int shift,
               UlpCounts* counts) {
  HWY_DYNAMIC_DISPATCH(CountF64)(target, golden, count, shift, counts);
}

void CountUlps(const uint16_t* target, const uint16_t* golden, size_t count, UlpCounts* counts) {
  HWY_DYNAMIC_DISPATCH(CountHalf)(target, golden, count, counts);
}

void CountSpecialUlps(const float* target, const float* golden, size_t count, int shift,
                      UlpCounts* counts) {
  CountSpecial<uint32_t>(target, golden, count, 0x7f800000U, shift, counts);
}

void CountSpecialUlps(const double* target, const double* golden, size_t count, int shift,
                      UlpCounts* counts) {
  CountSpecial<uint64_t>(target, golden, count, uint64_t{0x7ff} << 52, shift, counts);
}

void CountSpecialUlps(const uint16_t* target, const uint16_t* golden, size_t count,
                      uint16_t infinity, UlpCounts* counts) {
  CountSpecial<uint16_t>(target, golden, count, infinity, 0, counts);
}

}  // namespace msprobe::stats
#endif
