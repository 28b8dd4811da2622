#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msprobe::compare {

/// From fingerprints, which are hashes already, to values: one array, at most two thirds full.
template <class Value>
class FingerprintMap {
 public:
  /// At most `capacity` different fingerprints may be inserted.
  explicit FingerprintMap(size_t capacity) : slots_(capacity + capacity / 2 + 1) {}

  /// The value that is there already, or else `value`. `fingerprint` is not 0.
  Value* Insert(uint64_t fingerprint, const Value& value) {
    Slot& slot = slots_[Locate(fingerprint)];
    if (slot.fingerprint == 0) slot = {fingerprint, value};
    return &slot.value;
  }

  const Value* Find(uint64_t fingerprint) const {
    const Slot& slot = slots_[Locate(fingerprint)];
    return slot.fingerprint == 0 ? nullptr : &slot.value;
  }

 private:
  struct Slot {
    uint64_t fingerprint = 0;
    Value value = {};
  };

  size_t Locate(uint64_t fingerprint) const {
    // The upper bits say which part of the array; any size will do.
    auto at = static_cast<size_t>((fingerprint >> 32) * slots_.size() >> 32);
    while (slots_[at].fingerprint != 0 && slots_[at].fingerprint != fingerprint) {
      if (++at == slots_.size()) at = 0;
    }
    return at;
  }

  std::vector<Slot> slots_;
};

}  // namespace msprobe::compare
