#include "stats/float32_once.h"

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
// False alarms in GCC's own header of intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/crc32.h"
#include "base/crc32_wide.h"
#include "stats/reference.h"

namespace msprobe::stats {

#if defined(__x86_64__)

namespace {

using base::Crc32Wide;

constexpr size_t kStep = Crc32Wide::kBlock;
// Of one float64 sum: a block that holds NaN or infinity is looked at twice.
constexpr size_t kBlock = size_t{16} << 10;
constexpr size_t kPrintBlock = sizeof(FingerprintKeys);
constexpr size_t kPrefetchBytes = 4096;
static_assert(kBlock % kPrintBlock == 0 && kPrintBlock % kStep == 0);

/// Extremes and float64 sums of whole vectors.
struct Sums {
  __m512 max0 = _mm512_set1_ps(-std::numeric_limits<float>::infinity()), max1 = max0;
  __m512 min0 = _mm512_set1_ps(std::numeric_limits<float>::infinity()), min1 = min0;
  __m512d s0 = _mm512_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
  __m512d q0 = s0, q1 = s0, q2 = s0, q3 = s0;

  MSPROBE_WIDE Sums() {}

  /// a and b are the 32 values at `p`; converting from memory spares splitting them.
  MSPROBE_WIDE void Add(const float* p, __m512 a, __m512 b) {
    max0 = _mm512_max_ps(max0, a);
    min0 = _mm512_min_ps(min0, a);
    max1 = _mm512_max_ps(max1, b);
    min1 = _mm512_min_ps(min1, b);
    const __m512d d0 = _mm512_cvtps_pd(_mm256_loadu_ps(p));
    const __m512d d1 = _mm512_cvtps_pd(_mm256_loadu_ps(p + 8));
    const __m512d d2 = _mm512_cvtps_pd(_mm256_loadu_ps(p + 16));
    const __m512d d3 = _mm512_cvtps_pd(_mm256_loadu_ps(p + 24));
    s0 = _mm512_add_pd(s0, d0);
    s1 = _mm512_add_pd(s1, d1);
    s2 = _mm512_add_pd(s2, d2);
    s3 = _mm512_add_pd(s3, d3);
    q0 = _mm512_fmadd_pd(d0, d0, q0);
    q1 = _mm512_fmadd_pd(d1, d1, q1);
    q2 = _mm512_fmadd_pd(d2, d2, q2);
    q3 = _mm512_fmadd_pd(d3, d3, q3);
  }

  MSPROBE_WIDE static double Sum(__m512d a, __m512d b, __m512d c, __m512d d) {
    return _mm512_reduce_add_pd(_mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, d)));
  }

  /// False, and nothing is added, if there is NaN or infinity.
  MSPROBE_WIDE bool AddTo(Partial* partial) const {
    const double squares = Sum(q0, q1, q2, q3);
    if (!std::isfinite(squares)) return false;
    partial->sum += Sum(s0, s1, s2, s3);
    partial->sum_squares += squares;
    partial->max = std::max(partial->max,
                            static_cast<double>(_mm512_reduce_max_ps(_mm512_max_ps(max0, max1))));
    partial->min = std::min(partial->min,
                            static_cast<double>(_mm512_reduce_min_ps(_mm512_min_ps(min0, min1))));
    return true;
  }
};

/// The products of a block of a fingerprint.
struct Products {
  __m512i a = _mm512_setzero_si512(), b = a;

  MSPROBE_WIDE Products() {}

  MSPROBE_WIDE static __m512i Of(__m512i values, const std::byte* keys) {
    const __m512i sum = _mm512_add_epi32(values, _mm512_loadu_si512(keys));
    return _mm512_mul_epu32(sum, _mm512_srli_epi64(sum, 32));
  }
  MSPROBE_WIDE void Add(__m512i first, __m512i second, const std::byte* keys) {
    a = _mm512_add_epi64(a, Of(first, keys));
    b = _mm512_add_epi64(b, Of(second, keys + 64));
  }
  MSPROBE_WIDE uint64_t Sum() const {
    alignas(64) std::array<uint64_t, 8> lanes;
    _mm512_store_si512(lanes.data(), _mm512_add_epi64(a, b));
    return std::accumulate(lanes.begin(), lanes.end(), uint64_t{0});
  }
};

/// Whole steps; what is left of a block of the fingerprint goes on in `products`.
template <bool kCrc, bool kPrint>
MSPROBE_WIDE void ReadSteps(const std::byte* values, size_t bytes, const Float32Wanted& wanted,
                            uint64_t* products, Partial* partial) {
  const auto* keys = reinterpret_cast<const std::byte*>(TheFingerprintKeys().data());
  Crc32Wide crc(kCrc ? *wanted.crc32 : 0);
  for (size_t begin = 0; begin < bytes; begin += kBlock) {
    Sums sums;
    const size_t block_end = std::min(bytes, begin + kBlock);
    for (size_t print = begin; print < block_end; print += kPrintBlock) {
      Products chain;
      const size_t end = std::min(block_end, print + kPrintBlock);
      for (size_t at = print; at < end; at += kStep) {
        const std::byte* p = values + at;
        for (size_t line = 0; line < kStep; line += 64) {
          _mm_prefetch(reinterpret_cast<const char*>(p) + kPrefetchBytes + line, _MM_HINT_T0);
        }
        const auto* numbers = reinterpret_cast<const float*>(p);
        const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);
        const __m512i c = _mm512_loadu_si512(p + 128), d = _mm512_loadu_si512(p + 192);
        sums.Add(numbers, _mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
        sums.Add(numbers + 32, _mm512_castsi512_ps(c), _mm512_castsi512_ps(d));
        if constexpr (kCrc) crc.Add(a, b, c, d);
        if constexpr (kPrint) {
          chain.Add(a, b, keys + (at - print));
          chain.Add(c, d, keys + (at - print) + 128);
        }
      }
      if constexpr (kPrint) {
        *products = chain.Sum();
        if (end - print == kPrintBlock) {
          *wanted.fingerprint = ChainFingerprint(*wanted.fingerprint, *products);
        }
      }
    }
    if (!sums.AddTo(partial)) {
      Accumulate(DType::kFloat32, values + begin, (block_end - begin) / sizeof(float), partial);
    }
  }
  if constexpr (kCrc) *wanted.crc32 = crc.Finish();
}

}  // namespace

bool AccumulateFloat32Once(const std::byte* values, size_t count, const Float32Wanted& wanted,
                           Partial* partial) {
  if (!Crc32Wide::HasWide()) return false;
  const size_t bytes = count * sizeof(float);
  const size_t steps = bytes / kStep * kStep;
  uint64_t products = 0;
  if (steps > 0) {
    const auto read =
        wanted.crc32 == nullptr
            ? wanted.fingerprint == nullptr ? ReadSteps<false, false> : ReadSteps<false, true>
        : wanted.fingerprint == nullptr ? ReadSteps<true, false>
                                        : ReadSteps<true, true>;
    read(values, steps, wanted, &products, partial);
  }
  const std::span<const std::byte> rest(values + steps, bytes - steps);
  if (!rest.empty()) Accumulate(DType::kFloat32, rest.data(), rest.size() / sizeof(float), partial);
  if (wanted.crc32 != nullptr) *wanted.crc32 = base::Crc32(*wanted.crc32, rest);
  if (const size_t open = bytes % kPrintBlock; wanted.fingerprint != nullptr && open > 0) {
    const size_t done = open - rest.size();
    if (done == 0) products = 0;
    products += FingerprintTail(values + bytes - open, done / sizeof(uint64_t), open);
    *wanted.fingerprint = ChainFingerprint(*wanted.fingerprint, products);
  }
  return true;
}

#else

bool AccumulateFloat32Once(const std::byte*, size_t, const Float32Wanted&, Partial*) {
  return false;
}

#endif

}  // namespace msprobe::stats
