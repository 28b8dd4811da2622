#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "msprobe/status.h"

namespace msprobe::formats {

/// Writes uncompressed entries one after the other to `file`, which must be empty at first.
/// Contents begin at multiples of 64 bytes, so that a mapped file gives aligned values.
class ZipWriter {
 public:
  explicit ZipWriter(base::AtomicFile* file) : file_(file) {}

  Status Add(std::string_view name, std::string_view contents);

  /// For large contents: their size is known, their checksum is computed on the way and follows
  /// them in a data descriptor. Begin, any number of Append with `size` bytes together, End.
  Status Begin(std::string_view name, uint64_t size);
  Status Append(std::span<const std::byte> data);
  Status End();

  /// Writes the central directory.
  Status Finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t crc32 = 0;
    uint16_t flags = 0;
  };

  Status WriteLocalHeader(const Entry& entry);
  static void AppendCentralRecord(const Entry& entry, std::string* out);

  base::AtomicFile* file_;
  std::vector<Entry> entries_;
  uint64_t appended_ = 0;
};

}  // namespace msprobe::formats
