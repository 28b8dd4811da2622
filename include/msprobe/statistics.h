#pragma once

#include <cstdint>

#include "msprobe/tensor_view.h"

namespace msprobe {

/// Summary of the values of one tensor. Floating point sums are accumulated in float64 whatever
/// the dtype is. Complex tensors are summarised by their absolute values.
struct Statistics {
  /// False for tensors without values to look at (empty, no storage): the record holds nulls.
  bool defined = false;
  /// max and min are whole numbers (integers, bool) and `max_int`, `min_int` hold them exactly.
  /// uint64 values above 2^63 - 1 are kept as their two's complement with `is_unsigned` set.
  bool is_integral = false;
  bool is_unsigned = false;
  bool is_bool = false;
  double max = 0;
  double min = 0;
  double mean = 0;
  double norm = 0;  ///< square root of the sum of squares
  int64_t max_int = 0;
  int64_t min_int = 0;
  uint64_t nan_count = 0;  ///< with nan_count > 0 all four statistics are NaN
  uint64_t inf_count = 0;
};

enum class SummaryMode : uint8_t {
  kStatistics,
  kCrc32,  ///< config word "md5": statistics and CRC-32 of the contiguous little-endian bytes
  kXor,    ///< config word "xor": only the XOR of the 64-bit words, tail zero-padded
};

struct TensorSummary {
  Statistics statistics;
  uint32_t crc32 = 0;
  uint64_t xor64 = 0;
};

/// One pass over `view`. Never allocates for contiguous tensors; never fails: dtypes without
/// statistics (kUnknown) give `defined == false`.
TensorSummary Summarize(const TensorView& view, SummaryMode mode);

}  // namespace msprobe
