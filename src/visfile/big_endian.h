#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace msprobe::visfile {

/// The last `size` bytes of `value`, highest first.
inline void StoreBigEndian(uint64_t value, size_t size, char* to) {
  for (size_t i = size; i-- > 0; value >>= 8) to[i] = static_cast<char>(value);
}

/// SQLite's variable-length integer: 7 bits a byte, highest first, 9 bytes at most.
inline void AppendVarint(uint64_t value, std::string* out) {
  if (value < 0x80) {
    out->push_back(static_cast<char>(value));
    return;
  }
  char bytes[9];
  size_t begin = 9;
  if (value >> 56 != 0) {
    bytes[--begin] = static_cast<char>(value);
    for (value >>= 8; begin > 0; value >>= 7) bytes[--begin] = static_cast<char>(value | 0x80);
  } else {
    bytes[--begin] = static_cast<char>(value & 0x7f);
    for (value >>= 7; value != 0; value >>= 7) bytes[--begin] = static_cast<char>(value | 0x80);
  }
  out->append(bytes + begin, 9 - begin);
}

}  // namespace msprobe::visfile
