#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::formats {

struct ZipLimits {
  uint32_t max_entries = 65'536;
  uint64_t max_inflated_bytes = uint64_t{1} << 32;
};

struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> stored;  ///< as it lies in the file, maybe compressed
  uint64_t size = 0;                  ///< after decompression
  uint32_t crc32 = 0;
  uint16_t method = 0;
  uint64_t header_offset = 0;
};

/// A zip archive in memory that somebody else owns. Names are unique and no two entries share a
/// byte: an archive that says otherwise is Corrupt as a whole.
class ZipArchive {
 public:
  static Result<ZipArchive> Open(std::span<const std::byte> bytes, const ZipLimits& limits);

  /// In the order of the central directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* Find(std::string_view name) const;

  /// The contents: in place for a stored entry, in `buffer` for a deflated one. The CRC-32 of
  /// decompressed contents is checked, that of stored ones is not (see VerifyCrc).
  Result<std::span<const std::byte>> Read(const ZipEntry& entry,
                                          std::vector<std::byte>* buffer) const;

  /// A recorded checksum of 0 says that the writer left checksums out, as torch can.
  static Status VerifyCrc(const ZipEntry& entry, std::span<const std::byte> contents);

 private:
  uint64_t max_inflated_bytes_ = 0;
  std::vector<ZipEntry> entries_;
  std::vector<uint32_t> by_name_;
};

}  // namespace msprobe::formats
