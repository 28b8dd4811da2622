#include "stats/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/kernels.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stats/reference.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DD = hn::ScalableTag<double>;
using DI = hn::ScalableTag<int32_t>;
using DL = hn::ScalableTag<int64_t>;
using VF = hn::Vec<DF>;
using VD = hn::Vec<DD>;
using VI = hn::Vec<DI>;
using VL = hn::Vec<DL>;

// A block that holds NaN or infinity is looked at twice: it must still be in the cache then.
constexpr size_t kBlock = 4096;
constexpr size_t kPrefetchBytes = 4096;

// Where float32 values come from: Load2 reads 2 vectors' worth of consecutive elements, in any
// order, for what is computed does not depend on it.
struct Float32Source {
  using T = float;
  static float ToFloat(T value) { return value; }
  static HWY_INLINE void Load2(const T* p, VF& a, VF& b) {
    const DF df;
    a = hn::LoadU(df, p);
    b = hn::LoadU(df, p + hn::Lanes(df));
  }
  // Read again: converting from memory spares the shuffles that splitting a vector takes.
  template <size_t kPart>
  static HWY_INLINE VD ToDoubles(const T* p, VF) {
    const DD dd;
    const hn::Half<DF> dh;
    return hn::PromoteTo(dd, hn::LoadU(dh, p + kPart * hn::Lanes(dd)));
  }
};

/// Half of a vector of float32 as float64.
template <size_t kPart>
HWY_INLINE VD SplitDoubles(VF v) {
  const DD dd;
  const hn::Half<DF> dh;
  if constexpr (kPart % 2 == 0) return hn::PromoteTo(dd, hn::LowerHalf(dh, v));
  return hn::PromoteTo(dd, hn::UpperHalf(dh, v));
}

// Without instructions for it, Highway's own conversion loses infinity and NaN.
constexpr bool kConvertsFloat16 = HWY_TARGET != HWY_SSE4 && HWY_TARGET != HWY_SSSE3 &&
                                  HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR;

HWY_INLINE VF LoadFloat16(const uint16_t* p) {
  const DF df;
  if constexpr (kConvertsFloat16) {
    const hn::Rebind<hwy::float16_t, DF> dh;
    return hn::PromoteTo(df, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(p)));
  } else {
    const DI di;
    const hn::Rebind<uint16_t, DI> dh;
    const VI bits = hn::PromoteTo(di, hn::LoadU(dh, p));
    const VI magnitude = hn::And(bits, hn::Set(di, 0x7fff));
    const VI sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const VI rebias = hn::Set(di, 112 << 23);
    VI word = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    word = hn::Add(word, hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(di, 0x7bff)), rebias));
    const VF denormal = hn::Mul(hn::ConvertTo(df, magnitude), hn::Set(df, 0x1p-24f));
    word = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x400)), hn::BitCast(di, denormal), word);
    return hn::BitCast(df, hn::Or(word, sign));
  }
}

struct Float16Source {
  using T = uint16_t;
  static float ToFloat(T value) { return tensor::Float16ToFloat(value); }
  static HWY_INLINE void Load2(const T* p, VF& a, VF& b) {
    a = LoadFloat16(p);
    b = LoadFloat16(p + hn::Lanes(DF()));
  }
  template <size_t kPart>
  static HWY_INLINE VD ToDoubles(const T*, VF v) {
    return SplitDoubles<kPart>(v);
  }
};

struct BFloat16Source {
  using T = uint16_t;
  static float ToFloat(T value) { return tensor::BFloat16ToFloat(value); }
  static HWY_INLINE void Load2(const T* p, VF& a, VF& b) {
    const DF df;
    const hn::RebindToUnsigned<DF> du;
    const auto words = hn::LoadU(du, reinterpret_cast<const uint32_t*>(p));
    a = hn::BitCast(df, hn::ShiftLeft<16>(words));
    b = hn::BitCast(df, hn::And(words, hn::Set(du, 0xffff0000u)));
  }
  template <size_t kPart>
  static HWY_INLINE VD ToDoubles(const T*, VF v) {
    return SplitDoubles<kPart>(v);
  }
};

// Tensors need not be aligned.
template <class T>
HWY_INLINE T LoadOne(const T* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// The hardware does not run ahead far enough by itself.
HWY_INLINE void PrefetchAhead(const void* p, size_t bytes) {
  for (size_t line = 0; line < bytes; line += 64) {
    hwy::Prefetch(static_cast<const char*>(p) + kPrefetchBytes + line);
  }
}

template <class V, class D>
HWY_INLINE double SumOf(D d, V a, V b, V c, V e) {
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

template <class Source>
HWY_NOINLINE void CountSpecial(const typename Source::T* p, size_t count, Partial* partial) {
  const DF df;
  const size_t step = 2 * hn::Lanes(df);
  const VF infinity = hn::Set(df, std::numeric_limits<float>::infinity());
  size_t i = 0;
  uint64_t finite = 0, infinite = 0;
  for (; i + step <= count; i += step) {
    VF a, b;
    Source::Load2(p + i, a, b);
    a = hn::Abs(a);
    b = hn::Abs(b);
    finite += hn::CountTrue(df, hn::Lt(a, infinity)) + hn::CountTrue(df, hn::Lt(b, infinity));
    infinite += hn::CountTrue(df, hn::Eq(a, infinity)) + hn::CountTrue(df, hn::Eq(b, infinity));
  }
  for (; i < count; ++i) {
    const float value = Source::ToFloat(LoadOne(p + i));
    finite += std::isfinite(value);
    infinite += std::isinf(value);
  }
  partial->inf_count += infinite;
  partial->nan_count += count - finite - infinite;
}

// Every element is added in float64: squares of float32 neither overflow nor underflow there.
template <class Source>
void AccumulateFloatBlock(const typename Source::T* p, size_t count, Partial* partial) {
  const DF df;
  const DD dd;
  const size_t step = 2 * hn::Lanes(df);
  VF max0 = hn::Set(df, -std::numeric_limits<float>::infinity()), max1 = max0;
  VF min0 = hn::Set(df, std::numeric_limits<float>::infinity()), min1 = min0;
  VD s0 = hn::Zero(dd), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  size_t i = 0;
  for (; i + step <= count; i += step) {
    VF a, b;
    PrefetchAhead(p + i, step * sizeof(p[0]));
    Source::Load2(p + i, a, b);
    max0 = hn::Max(max0, a);
    min0 = hn::Min(min0, a);
    max1 = hn::Max(max1, b);
    min1 = hn::Min(min1, b);
    const VD a0 = Source::template ToDoubles<0>(p + i, a);
    const VD a1 = Source::template ToDoubles<1>(p + i, a);
    const VD b0 = Source::template ToDoubles<2>(p + i, b);
    const VD b1 = Source::template ToDoubles<3>(p + i, b);
    s0 = hn::Add(s0, a0);
    s1 = hn::Add(s1, a1);
    s2 = hn::Add(s2, b0);
    s3 = hn::Add(s3, b1);
    q0 = hn::MulAdd(a0, a0, q0);
    q1 = hn::MulAdd(a1, a1, q1);
    q2 = hn::MulAdd(b0, b0, q2);
    q3 = hn::MulAdd(b1, b1, q3);
  }
  double sum = 0, squares = 0;
  float max = -std::numeric_limits<float>::infinity(), min = -max;
  if (i > 0) {
    sum = SumOf(dd, s0, s1, s2, s3);
    squares = SumOf(dd, q0, q1, q2, q3);
    max = hn::GetLane(hn::MaxOfLanes(df, hn::Max(max0, max1)));
    min = hn::GetLane(hn::MinOfLanes(df, hn::Min(min0, min1)));
  }
  for (; i < count; ++i) {
    const float value = Source::ToFloat(LoadOne(p + i));
    max = std::max(max, value);
    min = std::min(min, value);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  partial->max = std::max(partial->max, static_cast<double>(max));
  partial->min = std::min(partial->min, static_cast<double>(min));
  partial->sum += sum;
  partial->sum_squares += squares;
  if (HWY_UNLIKELY(!std::isfinite(squares))) CountSpecial<Source>(p, count, partial);
}

template <class Source>
void AccumulateFloat(const std::byte* values, size_t count, Partial* partial) {
  const auto* p = reinterpret_cast<const typename Source::T*>(values);
  for (size_t i = 0; i < count; i += kBlock) {
    AccumulateFloatBlock<Source>(p + i, std::min(kBlock, count - i), partial);
  }
}

void AccumulateFloat8(const float* table, const std::byte* values, size_t count, Partial* partial) {
  constexpr size_t kChunk = 1024;
  float decoded[kChunk];
  for (size_t i = 0; i < count; i += kChunk) {
    const size_t chunk = std::min(kChunk, count - i);
    for (size_t k = 0; k < chunk; ++k) decoded[k] = table[static_cast<uint8_t>(values[i + k])];
    AccumulateFloatBlock<Float32Source>(decoded, chunk, partial);
  }
}

// Squares of float64 can overflow or vanish: such a block is done again with a wider exponent.
bool NeedsWideExponent(double squares, double max, double min) {
  return !std::isfinite(squares) || (squares < 1e-280 && (max != 0 || min != 0));
}

void AccumulateDoubleBlock(const double* p, size_t count, Partial* partial) {
  const DD d;
  const size_t lanes = hn::Lanes(d);
  VD max0 = hn::Set(d, -std::numeric_limits<double>::infinity()), max1 = max0;
  VD min0 = hn::Set(d, std::numeric_limits<double>::infinity()), min1 = min0;
  VD s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    PrefetchAhead(p + i, 4 * lanes * sizeof(double));
    const VD a = hn::LoadU(d, p + i), b = hn::LoadU(d, p + i + lanes);
    const VD c = hn::LoadU(d, p + i + 2 * lanes), e = hn::LoadU(d, p + i + 3 * lanes);
    max0 = hn::Max(max0, hn::Max(a, b));
    min0 = hn::Min(min0, hn::Min(a, b));
    max1 = hn::Max(max1, hn::Max(c, e));
    min1 = hn::Min(min1, hn::Min(c, e));
    s0 = hn::Add(s0, a);
    s1 = hn::Add(s1, b);
    s2 = hn::Add(s2, c);
    s3 = hn::Add(s3, e);
    q0 = hn::MulAdd(a, a, q0);
    q1 = hn::MulAdd(b, b, q1);
    q2 = hn::MulAdd(c, c, q2);
    q3 = hn::MulAdd(e, e, q3);
  }
  double sum = SumOf(d, s0, s1, s2, s3);
  double squares = SumOf(d, q0, q1, q2, q3);
  double max = hn::GetLane(hn::MaxOfLanes(d, hn::Max(max0, max1)));
  double min = hn::GetLane(hn::MinOfLanes(d, hn::Min(min0, min1)));
  for (; i < count; ++i) {
    const double value = LoadOne(p + i);
    max = std::max(max, value);
    min = std::min(min, value);
    sum += value;
    squares += value * value;
  }
  if (HWY_UNLIKELY(NeedsWideExponent(squares, max, min))) {
    AccumulateReference(DType::kFloat64, reinterpret_cast<const std::byte*>(p), count, partial);
    return;
  }
  partial->max = std::max(partial->max, max);
  partial->min = std::min(partial->min, min);
  partial->sum += sum;
  partial->sum_squares += squares;
}

void AccumulateDouble(const std::byte* values, size_t count, Partial* partial) {
  const auto* p = reinterpret_cast<const double*>(values);
  for (size_t i = 0; i < count; i += kBlock) {
    AccumulateDoubleBlock(p + i, std::min(kBlock, count - i), partial);
  }
}

template <class T>
HWY_INLINE VI LoadInt32(const T* p) {
  const DI di;
  if constexpr (sizeof(T) == 4) {
    return hn::LoadU(di, p);
  } else {
    const hn::Rebind<T, DI> narrow;
    return hn::PromoteTo(di, hn::LoadU(narrow, p));
  }
}

// int8 … int32, uint8, uint16, bool: every value is an int32 and exact in float64.
template <class T>
void AccumulateInt(const std::byte* values, size_t count, Partial* partial) {
  const auto* p = reinterpret_cast<const T*>(values);
  const DI di;
  const DD dd;
  const hn::Half<DI> dh;
  const size_t lanes = hn::Lanes(di);
  VI max = hn::Set(di, std::numeric_limits<int32_t>::min());
  VI min = hn::Set(di, std::numeric_limits<int32_t>::max());
  VD s0 = hn::Zero(dd), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    PrefetchAhead(p + i, 2 * lanes * sizeof(T));
    const VI a = LoadInt32(p + i), b = LoadInt32(p + i + lanes);
    max = hn::Max(max, hn::Max(a, b));
    min = hn::Min(min, hn::Min(a, b));
    const VD a0 = hn::PromoteTo(dd, hn::LowerHalf(dh, a));
    const VD a1 = hn::PromoteTo(dd, hn::UpperHalf(dh, a));
    const VD b0 = hn::PromoteTo(dd, hn::LowerHalf(dh, b));
    const VD b1 = hn::PromoteTo(dd, hn::UpperHalf(dh, b));
    s0 = hn::Add(s0, a0);
    s1 = hn::Add(s1, a1);
    s2 = hn::Add(s2, b0);
    s3 = hn::Add(s3, b1);
    q0 = hn::MulAdd(a0, a0, q0);
    q1 = hn::MulAdd(a1, a1, q1);
    q2 = hn::MulAdd(b0, b0, q2);
    q3 = hn::MulAdd(b1, b1, q3);
  }
  double sum = SumOf(dd, s0, s1, s2, s3);
  double squares = SumOf(dd, q0, q1, q2, q3);
  int64_t top = hn::GetLane(hn::MaxOfLanes(di, max));
  int64_t bottom = hn::GetLane(hn::MinOfLanes(di, min));
  for (; i < count; ++i) {
    const T value = LoadOne(p + i);
    top = std::max<int64_t>(top, value);
    bottom = std::min<int64_t>(bottom, value);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  partial->max_int = std::max(partial->max_int, top);
  partial->min_int = std::min(partial->min_int, bottom);
  partial->sum += sum;
  partial->sum_squares += squares;
}

void AccumulateInt64(const std::byte* values, size_t count, Partial* partial) {
  const auto* p = reinterpret_cast<const int64_t*>(values);
  const DL dl;
  const DD dd;
  const size_t lanes = hn::Lanes(dl);
  VL max = hn::Set(dl, std::numeric_limits<int64_t>::min());
  VL min = hn::Set(dl, std::numeric_limits<int64_t>::max());
  VD s0 = hn::Zero(dd), s1 = s0, q0 = s0, q1 = s0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    PrefetchAhead(p + i, 2 * lanes * sizeof(int64_t));
    const VL a = hn::LoadU(dl, p + i), b = hn::LoadU(dl, p + i + lanes);
    max = hn::Max(max, hn::Max(a, b));
    min = hn::Min(min, hn::Min(a, b));
    const VD a0 = hn::ConvertTo(dd, a), b0 = hn::ConvertTo(dd, b);
    s0 = hn::Add(s0, a0);
    s1 = hn::Add(s1, b0);
    q0 = hn::MulAdd(a0, a0, q0);
    q1 = hn::MulAdd(b0, b0, q1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(s0, s1)));
  double squares = hn::GetLane(hn::SumOfLanes(dd, hn::Add(q0, q1)));
  HWY_ALIGN int64_t tops[HWY_MAX_BYTES / sizeof(int64_t)];
  HWY_ALIGN int64_t bottoms[HWY_MAX_BYTES / sizeof(int64_t)];
  hn::Store(max, dl, tops);
  hn::Store(min, dl, bottoms);
  int64_t top = *std::max_element(tops, tops + lanes);
  int64_t bottom = *std::min_element(bottoms, bottoms + lanes);
  for (; i < count; ++i) {
    const int64_t value = LoadOne(p + i);
    top = std::max(top, value);
    bottom = std::min(bottom, value);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  partial->max_int = std::max(partial->max_int, top);
  partial->min_int = std::min(partial->min_int, bottom);
  partial->sum += sum;
  partial->sum_squares += squares;
}

bool AccumulateDispatched(DType dtype, const std::byte* values, size_t count, Partial* partial) {
  if (count == 0) return true;
  switch (dtype) {
    case DType::kFloat32: AccumulateFloat<Float32Source>(values, count, partial); return true;
    case DType::kFloat16: AccumulateFloat<Float16Source>(values, count, partial); return true;
    case DType::kBFloat16: AccumulateFloat<BFloat16Source>(values, count, partial); return true;
    case DType::kFloat64: AccumulateDouble(values, count, partial); return true;
    case DType::kInt64: AccumulateInt64(values, count, partial); return true;
    case DType::kInt32: AccumulateInt<int32_t>(values, count, partial); return true;
    case DType::kInt16: AccumulateInt<int16_t>(values, count, partial); return true;
    case DType::kUInt16: AccumulateInt<uint16_t>(values, count, partial); return true;
    case DType::kInt8: AccumulateInt<int8_t>(values, count, partial); return true;
    case DType::kBool:
    case DType::kUInt8: AccumulateInt<uint8_t>(values, count, partial); return true;
    default: break;
  }
  if (const float* table = tensor::Float8Values(dtype)) {
    AccumulateFloat8(table, values, count, partial);
    return true;
  }
  return false;
}

uint64_t XorDispatched(const std::byte* data, size_t bytes) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto* p = reinterpret_cast<const uint64_t*>(data);
  const size_t words = bytes / sizeof(uint64_t);
  auto a = hn::Zero(d), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= words; i += 2 * lanes) {
    PrefetchAhead(p + i, 2 * lanes * sizeof(uint64_t));
    a = hn::Xor(a, hn::LoadU(d, p + i));
    b = hn::Xor(b, hn::LoadU(d, p + i + lanes));
  }
  HWY_ALIGN uint64_t parts[HWY_MAX_BYTES / sizeof(uint64_t)];
  hn::Store(hn::Xor(a, b), d, parts);
  uint64_t result = 0;
  for (size_t k = 0; k < lanes; ++k) result ^= parts[k];
  for (size_t at = i * sizeof(uint64_t); at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(sizeof(word), bytes - at));
    result ^= word;
  }
  return result;
}

uint64_t FingerprintDispatched(const std::byte* data, size_t bytes, uint64_t seed) {
  const hn::ScalableTag<uint64_t> d;
  const hn::RepartitionToNarrow<decltype(d)> d32;
  const size_t lanes = hn::Lanes(d);
  const FingerprintKeys& keys = TheFingerprintKeys();
  HWY_ALIGN uint64_t parts[HWY_MAX_BYTES / sizeof(uint64_t)];
  for (size_t begin = 0; begin < bytes; begin += sizeof(keys)) {
    const size_t words = std::min(sizeof(keys), bytes - begin) / sizeof(uint64_t);
    const auto* p = reinterpret_cast<const uint64_t*>(data + begin);
    const auto product = [&](size_t at) {
      const auto sum = hn::Add(hn::BitCast(d32, hn::LoadU(d, p + at)),
                               hn::BitCast(d32, hn::LoadU(d, keys.data() + at)));
      return hn::MulEven(sum, hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d, sum))));
    };
    auto a = hn::Zero(d), b = a;
    size_t i = 0;
    for (; i + 2 * lanes <= words; i += 2 * lanes) {
      PrefetchAhead(p + i, 2 * lanes * sizeof(uint64_t));
      a = hn::Add(a, product(i));
      b = hn::Add(b, product(i + lanes));
    }
    uint64_t sum = FingerprintTail(data + begin, i, std::min(sizeof(keys), bytes - begin));
    hn::Store(hn::Add(a, b), d, parts);  // SumOfLanes() adds signed numbers, which may overflow
    for (size_t k = 0; k < lanes; ++k) sum += parts[k];
    seed = ChainFingerprint(seed, sum);
  }
  return seed;
}

}  // namespace msprobe::stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::stats {

HWY_EXPORT(AccumulateDispatched);
HWY_EXPORT(XorDispatched);
HWY_EXPORT(FingerprintDispatched);

bool Accumulate(DType dtype, const std::byte* values, size_t count, Partial* partial) {
  return HWY_DYNAMIC_DISPATCH(AccumulateDispatched)(dtype, values, count, partial);
}

uint64_t XorWords(const std::byte* data, size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(XorDispatched)(data, bytes);
}

uint64_t Fingerprint(const std::byte* data, size_t bytes, uint64_t seed) {
  return HWY_DYNAMIC_DISPATCH(FingerprintDispatched)(data, bytes, seed);
}

std::vector<int64_t> KernelTargets() {
  std::vector<int64_t> targets;
  int64_t left = hwy::SupportedTargets() & HWY_TARGETS;
  while (left != 0) {
    targets.push_back(left & -left);
    left &= left - 1;
  }
  return targets;
}

std::string_view KernelTargetName(int64_t target) { return hwy::TargetName(target); }

void SelectKernelTarget(int64_t target) {
  hwy::GetChosenTarget().Update(target == 0 ? hwy::SupportedTargets() : target);
}

}  // namespace msprobe::stats
#endif  // HWY_ONCE
