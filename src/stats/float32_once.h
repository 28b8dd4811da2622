#pragma once

#include <cstddef>
#include <cstdint>

#include "msprobe/statistics.h"
#include "stats/kernels.h"

namespace msprobe::stats {

/// What is wanted of float32 values besides statistics; each goes on from what it holds.
struct Float32Wanted {
  uint32_t* crc32 = nullptr;
  uint64_t* fingerprint = nullptr;  ///< as Fingerprint() gives it
};

/// Reads `count` contiguous float32 once for statistics, checksum and fingerprint: a tensor that
/// has left the cache comes from memory once, and while one is computed the next values arrive.
/// The values are added up in an order of its own: not for parts of a tensor that Accumulate()
/// gets in another run. False: this processor has no instructions for it; nothing was added.
bool AccumulateFloat32Once(const std::byte* values, size_t count, const Float32Wanted& wanted,
                           Partial* partial);

/// Summarize(), which uses this where it can, with the fingerprint of the bytes in the order of
/// memory; null: not wanted. False, and nothing is done: for values that are not such, or do not
/// lie one behind the other.
bool SummarizeOnce(const TensorView& view, SummaryMode mode, uint64_t* fingerprint,
                   TensorSummary* summary);

}  // namespace msprobe::stats
