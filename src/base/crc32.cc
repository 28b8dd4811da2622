#include "base/crc32.h"

#include <libdeflate.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace msprobe::base {

namespace {

#if defined(__x86_64__)

#define MSPROBE_WIDE __attribute__((target("avx512f,vpclmulqdq,pclmul")))

constexpr size_t kWideBlock = 256;
// Below, setting out and gathering the lanes takes longer than is saved.
constexpr size_t kLeastWide = 1024;

/// x^exponent modulo the polynomial, bits reversed, where carry-less products of such need it.
constexpr uint64_t PowerOfX(int exponent) {
  uint32_t power = 0x80000000u;
  for (int i = 0; i < exponent; ++i) power = (power >> 1) ^ ((power & 1) != 0 ? 0xEDB88320u : 0);
  return uint64_t{power} << 1;
}

/// Multiplies the 128-bit lanes of `state` by x^(8 * kBytes) and adds `next`.
template <int kBytes>
MSPROBE_WIDE inline __m512i Fold(__m512i state, __m512i next) {
  constexpr auto kLow = static_cast<int64_t>(PowerOfX(kBytes * 8 + 32));
  constexpr auto kHigh = static_cast<int64_t>(PowerOfX(kBytes * 8 - 32));
  const __m512i powers = _mm512_set_epi64(kHigh, kLow, kHigh, kLow, kHigh, kLow, kHigh, kLow);
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(state, powers, 0x00),
                                   _mm512_clmulepi64_epi128(state, powers, 0x11), next,
                                   kXorOfThree);
}

/// CRC-32 of whole blocks, at least one: four registers of four lanes are folded forward, then
/// into one lane, whose 16 bytes have the same remainder as all that went before.
MSPROBE_WIDE uint32_t Crc32Wide(uint32_t crc, const std::byte* data, size_t blocks) {
  const auto load = [data](size_t at) MSPROBE_WIDE { return _mm512_loadu_si512(data + at); };
  const __m128i first = _mm_cvtsi32_si128(static_cast<int>(~crc));
  __m512i a = _mm512_xor_si512(load(0), _mm512_inserti32x4(_mm512_setzero_si512(), first, 0));
  __m512i b = load(64);
  __m512i c = load(128);
  __m512i d = load(192);
  for (size_t at = kWideBlock; at < blocks * kWideBlock; at += kWideBlock) {
    a = Fold<kWideBlock>(a, load(at));
    b = Fold<kWideBlock>(b, load(at + 64));
    c = Fold<kWideBlock>(c, load(at + 128));
    d = Fold<kWideBlock>(d, load(at + 192));
  }
  d = Fold<64>(Fold<64>(Fold<64>(a, b), c), d);
  alignas(64) std::byte lanes[64];
  _mm512_store_si512(lanes, d);
  __m512i lane = d;
  for (size_t at = 16; at < sizeof(lanes); at += 16) {
    const auto* next = reinterpret_cast<const __m128i*>(lanes + at);
    lane = Fold<16>(lane, _mm512_castsi128_si512(_mm_load_si128(next)));
  }
  _mm512_store_si512(lanes, lane);
  return libdeflate_crc32(~uint32_t{0}, lanes, 16);
}

bool HasWide() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  return has;
}

#endif

}  // namespace

uint32_t Crc32(uint32_t crc, std::span<const std::byte> data) {
#if defined(__x86_64__)
  if (data.size() >= kLeastWide && HasWide()) {
    const size_t blocks = data.size() / kWideBlock;
    crc = Crc32Wide(crc, data.data(), blocks);
    data = data.subspan(blocks * kWideBlock);
  }
#endif
  return libdeflate_crc32(crc, data.data(), data.size());
}

}  // namespace msprobe::base
