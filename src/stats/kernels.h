#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "msprobe/tensor_view.h"

namespace msprobe::stats {

/// What is known after some of a tensor's elements; kernels add to it. The sums of a block are
/// float64; long double here keeps the range when float64 squares overflow.
struct Partial {
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();
  long double sum = 0;
  long double sum_squares = 0;
  /// Integers and bool only. uint64 is kept as value ^ 2^63, which orders like int64.
  int64_t max_int = std::numeric_limits<int64_t>::min();
  int64_t min_int = std::numeric_limits<int64_t>::max();
  uint64_t nan_count = 0;  ///< with NaN inside, max, min and sums mean nothing
  uint64_t inf_count = 0;
};

/// Adds `count` contiguous elements at `values`, which need not be aligned, with the best
/// instruction set of this machine. False: this dtype has no kernel, use the reference.
bool Accumulate(DType dtype, const std::byte* values, size_t count, Partial* partial);

/// XOR of the little-endian 64-bit words, the last one zero-padded.
uint64_t XorWords(const std::byte* data, size_t bytes);

/// A number that tells different bytes apart, at the speed of reading them: 64 bits of a keyed sum
/// of products, chained from `seed`. The same on every machine; not for adversaries.
uint64_t Fingerprint(const std::byte* data, size_t bytes, uint64_t seed);

/// For tests: what Accumulate() can run on here, and the choice of one (0: the best). Not
/// thread-safe.
std::vector<int64_t> KernelTargets();
std::string_view KernelTargetName(int64_t target);
void SelectKernelTarget(int64_t target);

}  // namespace msprobe::stats
