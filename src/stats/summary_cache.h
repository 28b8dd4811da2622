#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "msprobe/statistics.h"
#include "msprobe/tensor_view.h"

namespace msprobe::stats {

/// Summaries of tensors that were read a short time ago. A program hands one tensor from call to
/// call, and each of them records it: telling by a fingerprint that the bytes are still the same
/// costs a fraction of summing them up again. Not thread-safe.
class SummaryCache {
 public:
  /// Where the bytes lie and how, and what they were.
  struct Key {
    const std::byte* data = nullptr;  ///< null: not to be kept
    uint64_t layout = 0;
    uint64_t fingerprint = 0;
    uint64_t head = 0;  ///< fingerprint of the first bytes
    uint64_t moment = 0;
    bool open = false;  ///< the bytes are others than before: Compute() makes their fingerprint
  };

  SummaryCache();
  /// Another one than all before, for all caches of the process.
  static uint64_t NewMoment() {
    static uint64_t last = 0;
    return ++last;
  }
  /// The summary of the same bytes in the same place; else null: then Compute(), and Keep() for
  /// what it gave. While `moment` stays the same, and is not 0, nothing can have written to the
  /// tensors that are asked for in it: they are not even looked at again.
  const TensorSummary* Find(const TensorView& view, SummaryMode mode, uint64_t moment, Key* key);
  /// Touches nothing but `key`: other threads may run meanwhile.
  static TensorSummary Compute(const TensorView& view, SummaryMode mode, Key* key);
  void Keep(const Key& key, const TensorSummary& summary);

 private:
  struct Entry {
    Key key;
    TensorSummary summary;
  };
  static constexpr size_t kEntries = 1024;

  static size_t Place(const Key& key);
  std::vector<Entry> entries_;
};

}  // namespace msprobe::stats
