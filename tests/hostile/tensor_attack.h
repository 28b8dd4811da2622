#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32.h"
#include "formats/byte_order.h"
#include "formats/tensor_file.h"

namespace msprobe::hostile {

/// A folder of its own, gone at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "msprobe_hostile_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

inline Status OpenBytes(std::string_view bytes, const formats::TensorFileLimits& limits = {}) {
  const TempFolder folder;
  WriteFile(folder / "attack", bytes);
  return formats::OpenTensorFile(folder / "attack", limits).status();
}

/// The attack is refused with this code; the text says why, what to do, and about which file.
inline void ExpectRefused(const Status& status, StatusCode code, std::string_view fact) {
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_THAT(status.fact(), ::testing::HasSubstr(fact));
  EXPECT_THAT(status.path(), ::testing::HasSubstr("attack"));
}

inline void ExpectRefused(std::string_view bytes, StatusCode code, std::string_view fact) {
  ExpectRefused(OpenBytes(bytes), code, fact);
}

template <class T>
std::string Little(T value) {
  std::string bytes;
  formats::AppendLittle(value, &bytes);
  return bytes;
}

// Archives. Each number can be falsified.

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

inline std::string BuildPt(const std::string& pickle, const std::string& storage,
                           std::vector<ZipMember> more = {}) {
  std::vector<ZipMember> members = {{"archive/data.pkl", pickle}, {"archive/data/0", storage}};
  members.insert(members.end(), more.begin(), more.end());
  return BuildZip(members);
}

// Pickles, put together of opcodes.

inline std::string Text(std::string_view text) {
  return "X" + Little(static_cast<uint32_t>(text.size())) + std::string(text);
}
inline std::string Global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string Integer(int64_t value) { return "\x8a\x08" + Little(uint64_t(value)); }
inline std::string Tuple(const std::vector<int64_t>& values) {
  std::string program = "(";
  for (const int64_t value : values) program += Integer(value);
  return program + "t";
}
inline std::string Storage(int64_t count, std::string_view type = "FloatStorage") {
  return "(" + Text("storage") + Global("torch", type) + Text("0") + Text("cpu") + Integer(count) +
         "tQ";
}
inline std::string TensorCall(int64_t storage_count, int64_t offset,
                              const std::vector<int64_t>& shape,
                              const std::vector<int64_t>& strides) {
  return Global("torch._utils", "_rebuild_tensor_v2") + "(" + Storage(storage_count) +
         Integer(offset) + Tuple(shape) + Tuple(strides) + "\x89" +
         Global("collections", "OrderedDict") + ")RtR";
}
inline std::string Program(const std::string& body) { return "\x80\x02" + body + "."; }

}  // namespace msprobe::hostile
