#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "formats/byte_order.h"

/// Archives in which each number can be falsified.
namespace msprobe::hostile {

template <class T>
std::string Little(T value) {
  std::string bytes;
  formats::AppendLittle(value, &bytes);
  return bytes;
}

struct ZipMember {
  std::string name;
  std::string contents;
  uint16_t method = 0;
  uint64_t size = UINT64_MAX;         ///< as claimed; default: that of the contents
  uint64_t stored_size = UINT64_MAX;  ///< as claimed
  int64_t offset_shift = 0;           ///< added to the offset in the central directory
  uint32_t crc_flip = 0;
  uint16_t flags = 0;
  std::string local_name = {};  ///< default: `name`
  bool zip64 = false;           ///< the numbers stand in the zip64 extra field
};

struct ZipLies {
  int64_t entry_count_shift = 0;
  int64_t directory_offset_shift = 0;
  int64_t directory_size_shift = 0;
};

inline std::string BuildZip(const std::vector<ZipMember>& members, const ZipLies& lies = {}) {
  std::string file;
  std::string directory;
  for (const ZipMember& member : members) {
    const std::string& local_name = member.local_name.empty() ? member.name : member.local_name;
    const uint64_t size = member.size == UINT64_MAX ? member.contents.size() : member.size;
    const uint64_t stored =
        member.stored_size == UINT64_MAX ? member.contents.size() : member.stored_size;
    const uint32_t crc =
        base::Crc32(0, std::as_bytes(std::span(member.contents))) ^ member.crc_flip;
    const uint64_t offset = file.size() + static_cast<uint64_t>(member.offset_shift);
    const auto in32 = [&](uint64_t number) {
      return Little(member.zip64 ? UINT32_MAX : static_cast<uint32_t>(number));
    };
    const std::string extra = member.zip64 ? Little(uint16_t{1}) + Little(uint16_t{24}) +
                                                 Little(size) + Little(stored) + Little(offset)
                                           : "";
    file += Little(0x04034b50u) + Little(uint16_t{20}) + Little(member.flags) +
            Little(member.method) + Little(uint32_t{0}) + Little(crc) + in32(stored) + in32(size) +
            Little(static_cast<uint16_t>(local_name.size())) + Little(uint16_t{0}) + local_name +
            member.contents;
    directory += Little(0x02014b50u) + Little(uint32_t{20 << 16 | 20}) + Little(member.flags) +
                 Little(member.method) + Little(uint32_t{0}) + Little(crc) + in32(stored) +
                 in32(size) + Little(static_cast<uint16_t>(member.name.size())) +
                 Little(static_cast<uint16_t>(extra.size())) + std::string(10, '\0') +
                 in32(offset) + member.name + extra;
  }
  const auto count = static_cast<uint16_t>(std::ssize(members) + lies.entry_count_shift);
  const auto begin = static_cast<uint32_t>(std::ssize(file) + lies.directory_offset_shift);
  const auto size = static_cast<uint32_t>(std::ssize(directory) + lies.directory_size_shift);
  return file + directory + Little(0x06054b50u) + Little(uint32_t{0}) + Little(count) +
         Little(count) + Little(size) + Little(begin) + Little(uint16_t{0});
}

}  // namespace msprobe::hostile
