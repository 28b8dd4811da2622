#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "msprobe/tensor_view.h"
#include "stats/kernels.h"

namespace msprobe::stats {

/// The plain loop in long double that says what is right: kernels are tested against it, and
/// dtypes too rare for a kernel use it. Nothing happens for kUnknown.
void AccumulateReference(DType dtype, const std::byte* values, size_t count, Partial* partial);

/// Random numbers, each added to one 64-bit word of a block of a fingerprint.
using FingerprintKeys = std::array<uint64_t, 512>;
const FingerprintKeys& TheFingerprintKeys();
/// The products of the words of a block from `word` on; the last word is padded with zeros.
uint64_t FingerprintTail(const std::byte* block, size_t word, size_t bytes);
inline uint64_t ChainFingerprint(uint64_t seed, uint64_t sum) {
  uint64_t mixed = (seed ^ sum ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
  return mixed ^ (mixed >> 32);
}
/// Word by word what the kernel Fingerprint() does.
uint64_t FingerprintReference(const std::byte* data, size_t bytes, uint64_t seed);

}  // namespace msprobe::stats
