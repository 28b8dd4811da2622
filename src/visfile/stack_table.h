#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace msprobe::visfile {

/// Stands for a text without keeping it.
struct StackKey {
  uint64_t hash = 0;
  uint32_t crc = 0;
  uint32_t size = 0;
  bool operator==(const StackKey&) const = default;

  static StackKey Of(std::string_view text);
};

/// Numbers distinct stacks 0, 1, 2 … There can be a million of them, so their texts are not kept.
class StackTable {
 public:
  /// The number of `key`; *added: it is new.
  uint32_t Find(const StackKey& key, bool* added);

 private:
  struct Slot {
    StackKey key;
    uint32_t number = UINT32_MAX;  ///< free
  };
  Slot* Probe(const StackKey& key);
  void Grow();

  std::vector<Slot> slots_;  ///< a power of two, at most half full
  uint32_t size_ = 0;
};

}  // namespace msprobe::visfile
