#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dump/staging_buffer.h"
#include "msprobe/tensor_view.h"
#include "stats/content_hash.h"

namespace msprobe::dump {

/// The values of tensors that wait for being written, in C order. A program hands one tensor from
/// call to call, and each call's record has it: equal values wait once.
struct SharedContents {
  StagingBuffer values;
  stats::ContentHash hash;
  uint64_t bytes = 0;
  /// The last writer, by its number, in whose queue they have been weighed.
  std::atomic<uint64_t> weighed_by{0};
};

/// Copies the values of `view`, or finds equal ones that wait already. Null: no memory, or nothing
/// to copy (no elements). Thread-safe.
std::shared_ptr<SharedContents> TakeContents(const TensorView& view);

}  // namespace msprobe::dump
