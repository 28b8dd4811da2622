#include "base/crc32.h"

#include <libdeflate.h>

#include "base/crc32_wide.h"

namespace msprobe::base {

namespace {

#if defined(__x86_64__)

// Below, setting out and gathering the lanes takes longer than is saved.
constexpr size_t kLeastWide = 1024;

MSPROBE_WIDE uint32_t OfBlocks(uint32_t crc, const std::byte* data, size_t blocks) {
  Crc32Wide wide(crc);
  const auto load = [&data](size_t at) MSPROBE_WIDE { return _mm512_loadu_si512(data + at); };
  for (; blocks > 0; --blocks, data += Crc32Wide::kBlock) {
    wide.Add(load(0), load(64), load(128), load(192));
  }
  return wide.Finish();
}

#define MSPROBE_HALF_WIDE __attribute__((target("avx2,vpclmulqdq,pclmul")))

template <int kBytes>
MSPROBE_HALF_WIDE __m256i Fold(__m256i state, __m256i next) {
  constexpr int64_t kLow = Crc32Powers<kBytes>::kLow, kHigh = Crc32Powers<kBytes>::kHigh;
  const __m256i powers = _mm256_set_epi64x(kHigh, kLow, kHigh, kLow);
  return _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(state, powers, 0x00),
                                           _mm256_clmulepi64_epi128(state, powers, 0x11)),
                          next);
}

MSPROBE_HALF_WIDE __m256i Load(const std::byte* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

// As Crc32Wide, with four registers of two lanes.
MSPROBE_HALF_WIDE uint32_t OfHalfBlocks(uint32_t crc, const std::byte* data, size_t blocks) {
  constexpr size_t kBlock = Crc32Half::kBlock;
  __m256i begin = _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (; blocks > 0; --blocks, data += kBlock) {
    a = Fold<kBlock>(a, _mm256_xor_si256(Load(data), begin));
    b = Fold<kBlock>(b, Load(data + 32));
    c = Fold<kBlock>(c, Load(data + 64));
    d = Fold<kBlock>(d, Load(data + 96));
    begin = _mm256_setzero_si256();
  }
  const __m256i lanes = Fold<32>(Fold<32>(Fold<32>(a, b), c), d);
  const __m256i last = _mm256_zextsi128_si256(_mm256_extracti128_si256(lanes, 1));
  alignas(32) uint8_t lane[32];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lane), Fold<16>(lanes, last));
  return libdeflate_crc32(~uint32_t{0}, lane, 16);
}

#endif

}  // namespace

#if defined(__x86_64__)

bool Crc32Half::Has() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
  return has;
}

uint32_t Crc32Half::Of(uint32_t crc, std::span<const std::byte> data) {
  const size_t blocks = data.size() / kBlock;
  if (blocks > 0) crc = OfHalfBlocks(crc, data.data(), blocks);
  data = data.subspan(blocks * kBlock);
  return libdeflate_crc32(crc, data.data(), data.size());
}

#endif

uint32_t Crc32(uint32_t crc, std::span<const std::byte> data) {
#if defined(__x86_64__)
  if (data.size() >= kLeastWide && Crc32Wide::HasWide()) {
    const size_t blocks = data.size() / Crc32Wide::kBlock;
    crc = OfBlocks(crc, data.data(), blocks);
    data = data.subspan(blocks * Crc32Wide::kBlock);
  } else if (data.size() >= kLeastWide && Crc32Half::Has()) {
    return Crc32Half::Of(crc, data);
  }
#endif
  return libdeflate_crc32(crc, data.data(), data.size());
}

}  // namespace msprobe::base
