#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace msprobe::formats {

static_assert(std::endian::native == std::endian::little,
              "the readers hand out mapped little-endian values as they are");

/// The little-endian number at `data`, which need not be aligned.
template <std::unsigned_integral T>
T LoadLittle(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <std::unsigned_integral T>
void AppendLittle(T value, std::string* out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

/// A copy with the bytes of each word of `word_size` bytes reversed; a rest is left out.
inline std::vector<std::byte> ReverseWords(std::span<const std::byte> values, size_t word_size) {
  std::vector<std::byte> reversed(values.begin(), values.end());
  reversed.resize(reversed.size() / word_size * word_size);
  for (auto word = reversed.begin(); word != reversed.end();) {
    const auto next = word + static_cast<std::ptrdiff_t>(word_size);
    std::reverse(word, next);
    word = next;
  }
  return reversed;
}

}  // namespace msprobe::formats
