#pragma once

#include <cstddef>
#include <cstdint>

namespace msprobe::stats {

struct ContentHash {
  uint64_t low = 0, high = 0;
  bool operator==(const ContentHash&) const = default;
};

/// 128 bits that tell different bytes apart, at about the speed of reading them. The same on every
/// machine; not for adversaries.
ContentHash HashContents(const std::byte* data, size_t bytes);

}  // namespace msprobe::stats
