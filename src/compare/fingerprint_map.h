#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace msprobe::compare {

/// From fingerprints, which are hashes already, to values: one array, half full at most.
template <class Value>
class FingerprintMap {
 public:
  /// At most `capacity` different fingerprints may be inserted.
  explicit FingerprintMap(size_t capacity) : slots_(std::bit_ceil(2 * capacity + 1)) {}

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
    const size_t mask = slots_.size() - 1;
    size_t at = fingerprint & mask;
    while (slots_[at].fingerprint != 0 && slots_[at].fingerprint != fingerprint)
      at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;
};

}  // namespace msprobe::compare
