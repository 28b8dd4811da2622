#include "zip_members.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "formats/zip/zip_format.h"
#include "formats/zip/zip_reader.h"

namespace msprobe::fuzz {

namespace {

using hostile::ZipMember;

/// A deflate stream that does not compress: blocks of stored bytes.
std::string Deflated(std::string_view contents) {
  constexpr size_t kBlock = 0xffff;
  std::string stream;
  do {
    const std::string_view block = contents.substr(0, kBlock);
    contents.remove_prefix(block.size());
    stream += contents.empty() ? '\1' : '\0';
    stream += hostile::Little(static_cast<uint16_t>(block.size()));
    stream += hostile::Little(static_cast<uint16_t>(~block.size()));
    stream += block;
  } while (!contents.empty());
  return stream;
}

void Lie(ZipMember* member, std::mt19937* random) {
  const uint32_t number = (*random)() >> (*random)() % 32;
  switch ((*random)() % 6) {
    case 0: member->size = number; break;
    case 1: member->stored_size = number; break;
    case 2: member->offset_shift = static_cast<int32_t>(number); break;
    case 3: member->crc_flip = number; break;
    case 4: member->flags = static_cast<uint16_t>(number); break;
    default: member->zip64 = !member->zip64;
  }
}

}  // namespace

std::vector<ZipMember> ReadZip(std::span<const std::byte> bytes) {
  std::vector<ZipMember> members;
  const auto archive = formats::ZipArchive::Open(bytes, {.max_inflated_bytes = 1 << 20});
  if (!archive.ok()) return members;
  for (const formats::ZipEntry& entry : archive->entries()) {
    std::vector<std::byte> buffer;
    const auto contents = archive->Read(entry, &buffer);
    if (!contents.ok()) continue;
    members.push_back(
        {.name = std::string(entry.name),
         .contents = {reinterpret_cast<const char*>(contents->data()), contents->size()},
         .method = entry.method});
  }
  return members;
}

std::string WriteZip(std::vector<ZipMember> members) {
  for (ZipMember& member : members) {
    member.name.resize(std::min<size_t>(member.name.size(), 0xfff));
    if (member.method != formats::zip::kMethodDeflated) continue;
    if (member.size == UINT64_MAX) member.size = member.contents.size();
    // The checksum is that of what is compressed; the builder takes the other one.
    const auto crc = [](std::string_view text) {
      return base::Crc32(0, std::as_bytes(std::span(text)));
    };
    std::string stream = Deflated(member.contents);
    member.crc_flip ^= crc(member.contents) ^ crc(stream);
    member.contents = std::move(stream);
  }
  return hostile::BuildZip(members);
}

void MutateMembers(std::vector<ZipMember>* members, std::mt19937* random) {
  constexpr std::array<std::string_view, 7> kNames = {
      "data.pkl", "data/0", "data/1", "byteorder", "version", "constants.pkl", ""};
  ZipMember& member = (*members)[(*random)() % members->size()];
  switch ((*random)() % 6) {
    case 0: members->erase(members->begin() + (&member - members->data())); break;
    case 1: members->push_back(ZipMember(member)); break;
    case 2: member.method ^= formats::zip::kMethodDeflated; break;
    case 3: Lie(&member, random); break;
    case 4: std::swap(member.contents, members->back().contents); break;
    default: {
      const size_t folder = member.name.find('/');
      member.name.resize(folder == std::string::npos ? 0 : folder + 1);
      member.name += kNames[(*random)() % kNames.size()];
    }
  }
}

}  // namespace msprobe::fuzz
