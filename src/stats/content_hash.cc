#include "stats/content_hash.h"

#define HWY_WANT_AVX3_DL  // has AES for whole vectors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/content_hash.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace msprobe::stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen lanes of 16 bytes, in as many vectors as they take. A block goes into its lane as the key
// of one round of AES, which is one to one, so that no change of a single block is ever lost.
constexpr size_t kHashBlock = 256;

ContentHash HashDispatched(const std::byte* data, size_t bytes) {
  // Wider vectors are taken apart for AES where the processor has it for 16 bytes only.
  const hn::CappedTag<uint8_t, HWY_TARGET == HWY_AVX3_DL ? 64 : 16> d;
  constexpr size_t kVector = hn::MaxLanes(d);
  constexpr size_t kVectors = kHashBlock / kVector;
  const auto* p = reinterpret_cast<const uint8_t*>(data);
  HWY_ALIGN uint8_t lanes[kHashBlock] = {};
  hn::Vec<decltype(d)> state[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    // Equal blocks in different lanes must not look alike.
    state[v] = hn::Iota(d, static_cast<uint8_t>(v * kVector));
  }
  size_t at = 0;
  for (; at + kHashBlock <= bytes; at += kHashBlock) {
    for (size_t v = 0; v < kVectors; ++v) {
      state[v] = hn::AESRound(state[v], hn::LoadU(d, p + at + v * kVector));
    }
  }
  if (at < bytes) {
    std::memcpy(lanes, p + at, bytes - at);
    for (size_t v = 0; v < kVectors; ++v) {
      state[v] = hn::AESRound(state[v], hn::Load(d, lanes + v * kVector));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) hn::Store(state[v], d, lanes + v * kVector);
  const hn::FixedTag<uint8_t, 16> d16;
  const hn::FixedTag<uint64_t, 2> d64;
  auto hash = hn::BitCast(d16, hn::Set(d64, bytes));
  for (size_t lane = 0; lane < kHashBlock; lane += 16) {
    hash = hn::AESRound(hash, hn::Load(d16, lanes + lane));
  }
  for (int round = 0; round < 3; ++round) hash = hn::AESRound(hash, hn::Load(d16, lanes));
  HWY_ALIGN uint64_t result[2];
  hn::Store(hn::BitCast(d64, hash), d64, result);
  return {result[0], result[1]};
}

}  // namespace msprobe::stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::stats {

HWY_EXPORT(HashDispatched);

ContentHash HashContents(const std::byte* data, size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(HashDispatched)(data, bytes);
}

}  // namespace msprobe::stats
#endif  // HWY_ONCE
