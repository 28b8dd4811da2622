#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stats/ulp_kernels.h"

namespace msprobe::stats {

/// What is left of a part of a tensor pair; parts are merged in their order. Elements that are not
/// finite on both sides are counted and add nothing to the rest.
struct PairSums {
  uint64_t count = 0;
  uint64_t nan_both = 0;
  uint64_t mismatch = 0;
  uint64_t above_thousandth = 0;
  uint64_t above_five_thousandths = 0;
  double dot = 0;
  double target_squares = 0;
  double golden_squares = 0;
  double difference_squares = 0;
  double max_abs = 0;
  double max_relative = 0;
  UlpCounts ulps{};

  void Merge(const PairSums& other) {
    count += other.count;
    nan_both += other.nan_both;
    mismatch += other.mismatch;
    above_thousandth += other.above_thousandth;
    above_five_thousandths += other.above_five_thousandths;
    dot += other.dot;
    target_squares += other.target_squares;
    golden_squares += other.golden_squares;
    difference_squares += other.difference_squares;
    max_abs = std::max(max_abs, other.max_abs);
    max_relative = std::max(max_relative, other.max_relative);
    for (size_t k = 0; k < ulps.size(); ++k) ulps[k] += other.ulps[k];
  }
};

/// Vectorised for the instruction set of this machine; pointers need no alignment. `ulp_shift`: as
/// CountUlps(), or kNoUlps.
void AccumulatePair(const float* target, const float* golden, size_t count, int ulp_shift,
                    PairSums* sums);
void AccumulatePair(const double* target, const double* golden, size_t count, int ulp_shift,
                    PairSums* sums);
/// Sums in float32, in blocks: off by less than 1e-6.
void AccumulateBFloat16(const std::byte* target, const std::byte* golden, size_t count,
                        PairSums* sums);
void AccumulateFloat16(const std::byte* target, const std::byte* golden, size_t count,
                       PairSums* sums);
void WidenBFloat16(const std::byte* from, size_t count, float* to);
void WidenFloat16(const std::byte* from, size_t count, float* to);

}  // namespace msprobe::stats
