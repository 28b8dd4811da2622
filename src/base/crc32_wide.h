#pragma once

#if defined(__x86_64__)

#include <immintrin.h>
#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <span>

#define MSPROBE_WIDE __attribute__((target("avx512f,vpclmulqdq,pclmul")))

namespace msprobe::base {

/// x^exponent modulo the polynomial, bits reversed, where carry-less products of such need it.
constexpr uint64_t Crc32PowerOfX(int exponent) {
  uint32_t power = 0x80000000u;
  for (int i = 0; i < exponent; ++i) power = (power >> 1) ^ ((power & 1) != 0 ? 0xEDB88320u : 0);
  return uint64_t{power} << 1;
}

/// What the lanes of 128 bits are multiplied by to fold them forward by kBytes.
template <int kBytes>
struct Crc32Powers {
  static constexpr auto kLow = static_cast<int64_t>(Crc32PowerOfX(kBytes * 8 + 32));
  static constexpr auto kHigh = static_cast<int64_t>(Crc32PowerOfX(kBytes * 8 - 32));
};

/// CRC-32 of 256-byte blocks by carry-less products, for processors that have HasWide(): four
/// registers of four lanes are folded forward, at the end into one lane, whose 16 bytes have the
/// same remainder as all that went before. In a header so that a loop that reads values for
/// something else can have it on the way.
class Crc32Wide {
 public:
  static constexpr size_t kBlock = 256;

  static bool HasWide() {
    static const bool has =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
    return has;
  }

  /// `crc`: of what went before.
  MSPROBE_WIDE explicit Crc32Wide(uint32_t crc)
      : begin_(_mm512_inserti32x4(_mm512_setzero_si512(), _mm_cvtsi32_si128(static_cast<int>(~crc)),
                                  0)) {}

  /// The next block; at least one has to come.
  MSPROBE_WIDE void Add(__m512i a, __m512i b, __m512i c, __m512i d) {
    a_ = Fold<kBlock>(a_, _mm512_xor_si512(a, begin_));
    b_ = Fold<kBlock>(b_, b);
    c_ = Fold<kBlock>(c_, c);
    d_ = Fold<kBlock>(d_, d);
    begin_ = _mm512_setzero_si512();
  }

  MSPROBE_WIDE uint32_t Finish() const {
    alignas(64) uint8_t lanes[64];
    __m512i lane = Fold<64>(Fold<64>(Fold<64>(a_, b_), c_), d_);
    _mm512_store_si512(lanes, lane);
    for (size_t at = 16; at < sizeof(lanes); at += 16) {
      const auto* next = reinterpret_cast<const __m128i*>(lanes + at);
      lane = Fold<16>(lane, _mm512_castsi128_si512(_mm_load_si128(next)));
    }
    _mm512_store_si512(lanes, lane);
    return libdeflate_crc32(~uint32_t{0}, lanes, 16);
  }

 private:
  /// Multiplies the 128-bit lanes of `state` by x^(8 * kBytes) and adds `next`.
  template <int kBytes>
  MSPROBE_WIDE static __m512i Fold(__m512i state, __m512i next) {
    constexpr int64_t kLow = Crc32Powers<kBytes>::kLow, kHigh = Crc32Powers<kBytes>::kHigh;
    const __m512i powers = _mm512_set_epi64(kHigh, kLow, kHigh, kLow, kHigh, kLow, kHigh, kLow);
    constexpr int kXorOfThree = 0x96;
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(state, powers, 0x00),
                                     _mm512_clmulepi64_epi128(state, powers, 0x11), next,
                                     kXorOfThree);
  }

  __m512i begin_;
  __m512i a_ = _mm512_setzero_si512(), b_ = a_, c_ = a_, d_ = a_;
};

/// The same with registers of half the width, for processors that have no wider ones.
class Crc32Half {
 public:
  static constexpr size_t kBlock = 128;

  static bool Has();
  /// Crc32(), in this way.
  static uint32_t Of(uint32_t crc, std::span<const std::byte> data);
};

}  // namespace msprobe::base

#endif
