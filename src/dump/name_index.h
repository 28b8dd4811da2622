#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace msprobe::dump {

/// Hash from name to id that does not hold the names: whoever uses it says what name an id has.
/// 16 to 32 bytes per name.
class NameIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit NameIndex(size_t capacity = 0)
      : slots_(std::bit_ceil(capacity + capacity / 2 + 1), kEmpty) {}

  /// The id of an equal name that is there already, else kNone after adding `id`. At most as many
  /// names as the capacity may be added.
  template <class NameOf>
  uint32_t Insert(std::string_view name, uint32_t id, const NameOf& name_of) {
    const size_t hash = std::hash<std::string_view>()(name);
    uint64_t* slot = Locate(hash, name, name_of);
    if (*slot != kEmpty) return static_cast<uint32_t>(*slot);
    *slot = Tag(hash) | id;
    return kNone;
  }

  template <class NameOf>
  uint32_t Find(std::string_view name, const NameOf& name_of) const {
    const size_t hash = std::hash<std::string_view>()(name);
    const uint64_t slot = *const_cast<NameIndex*>(this)->Locate(hash, name, name_of);
    return slot == kEmpty ? kNone : static_cast<uint32_t>(slot);
  }

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;

  /// The upper half of a slot keeps most comparisons away from the names in the mapped file.
  static uint64_t Tag(size_t hash) { return hash & 0xFFFF'FFFF'0000'0000; }

  template <class NameOf>
  uint64_t* Locate(size_t hash, std::string_view name, const NameOf& name_of) {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const uint64_t slot = slots_[at];
      if (slot == kEmpty) return &slots_[at];
      if (Tag(slot) == Tag(hash) && name_of(static_cast<uint32_t>(slot)) == name) {
        return &slots_[at];
      }
    }
  }

  std::vector<uint64_t> slots_;
};

}  // namespace msprobe::dump
