#include "formats/zip/zip_reader.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/crc32.h"
#include "formats/byte_order.h"
#include "formats/zip/inflate.h"
#include "formats/zip/zip_format.h"

namespace msprobe::formats {

namespace {

using Bytes = std::span<const std::byte>;

Status Damaged(std::string fact) {
  return CorruptError("damaged zip archive: " + std::move(fact), "write the file again");
}

std::string Quoted(std::string_view name) {
  std::string quoted(1, '\'');
  quoted.append(name.substr(0, 200)).append(1, '\'');
  return quoted;
}

std::string_view Text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// True if [offset, offset + size) lies in the first `limit` bytes.
bool Inside(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

struct Directory {
  uint64_t entries = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

std::optional<size_t> FindEnd(Bytes bytes) {
  if (bytes.size() < zip::kEndSize) return std::nullopt;
  const size_t last = bytes.size() - zip::kEndSize;
  const size_t first = last - std::min<size_t>(last, zip::kMax16);  // a comment may follow
  for (size_t at = last + 1; at-- > first;) {
    if (LoadLittle<uint32_t>(bytes.data() + at) != zip::kEndSignature) continue;
    if (at + zip::kEndSize + LoadLittle<uint16_t>(bytes.data() + at + 20) == bytes.size()) {
      return at;
    }
  }
  return std::nullopt;
}

/// The zip64 end record, if a locator stands before the end record.
Status ReadEnd64(Bytes bytes, size_t end, Directory* directory, uint64_t* directory_limit) {
  if (end < zip::kLocator64Size) return Status::Ok();
  const std::byte* locator = bytes.data() + end - zip::kLocator64Size;
  if (LoadLittle<uint32_t>(locator) != zip::kLocator64Signature) return Status::Ok();
  const auto offset = LoadLittle<uint64_t>(locator + 8);
  if (!Inside(offset, zip::kEnd64Size, end - zip::kLocator64Size) ||
      LoadLittle<uint32_t>(bytes.data() + offset) != zip::kEnd64Signature) {
    return Damaged("the zip64 end record is not where it should be");
  }
  const std::byte* record = bytes.data() + offset;
  directory->entries = LoadLittle<uint64_t>(record + 32);
  directory->size = LoadLittle<uint64_t>(record + 40);
  directory->offset = LoadLittle<uint64_t>(record + 48);
  *directory_limit = offset;
  return Status::Ok();
}

Status LocateDirectory(Bytes bytes, Directory* directory) {
  const std::optional<size_t> end = FindEnd(bytes);
  if (!end) {
    return CorruptError("zip archive without its central directory: it is cut off",
                        "write the file again");
  }
  const std::byte* record = bytes.data() + *end;
  if (LoadLittle<uint16_t>(record + 4) != 0 && LoadLittle<uint16_t>(record + 4) != zip::kMax16) {
    return UnsupportedError("zip archive of several parts", "store it as one file");
  }
  directory->entries = LoadLittle<uint16_t>(record + 10);
  directory->size = LoadLittle<uint32_t>(record + 12);
  directory->offset = LoadLittle<uint32_t>(record + 16);
  uint64_t limit = *end;
  MSPROBE_RETURN_IF_ERROR(ReadEnd64(bytes, *end, directory, &limit));
  if (!Inside(directory->offset, directory->size, limit)) {
    return Damaged("the central directory does not lie inside the file");
  }
  return Status::Ok();
}

/// Replaces sizes and offset that did not fit in 32 bits by those of the zip64 extra field.
Status ApplyExtra64(Bytes extra, uint64_t* size, uint64_t* stored_size, uint64_t* offset) {
  while (extra.size() >= 4) {
    const auto id = LoadLittle<uint16_t>(extra.data());
    const size_t length = LoadLittle<uint16_t>(extra.data() + 2);
    extra = extra.subspan(4);
    if (length > extra.size()) return Damaged("an extra field is cut off");
    if (id == zip::kExtra64) {
      Bytes field = extra.first(length);
      for (uint64_t* value : {size, stored_size, offset}) {
        if (*value != zip::kMax32) continue;
        if (field.size() < 8) return Damaged("a zip64 field is cut off");
        *value = LoadLittle<uint64_t>(field.data());
        field = field.subspan(8);
      }
      return Status::Ok();
    }
    extra = extra.subspan(length);
  }
  return Status::Ok();
}

/// Finds the contents behind the local header, which must name the same entry.
Status LocateContents(Bytes before_directory, uint64_t stored_size, ZipEntry* entry) {
  if (!Inside(entry->header_offset, zip::kLocalSize, before_directory.size()) ||
      LoadLittle<uint32_t>(before_directory.data() + entry->header_offset) !=
          zip::kLocalSignature) {
    return Damaged("entry " + Quoted(entry->name) + " has no header at its offset");
  }
  const std::byte* header = before_directory.data() + entry->header_offset;
  const size_t name_size = LoadLittle<uint16_t>(header + 26);
  const size_t extra_size = LoadLittle<uint16_t>(header + 28);
  const uint64_t begin = entry->header_offset + zip::kLocalSize + name_size + extra_size;
  if (!Inside(begin, stored_size, before_directory.size())) {
    return Damaged("entry " + Quoted(entry->name) + " does not lie inside the file");
  }
  const Bytes name = before_directory.subspan(entry->header_offset + zip::kLocalSize, name_size);
  if (Text(name) != entry->name) {
    return Damaged("entry " + Quoted(entry->name) + " has another name in its own header");
  }
  entry->stored = before_directory.subspan(begin, stored_size);
  return Status::Ok();
}

/// Reads the entry at the front of `rest` and takes it off.
Status TakeEntry(Bytes* rest, Bytes before_directory, ZipEntry* entry) {
  if (rest->size() < zip::kCentralSize ||
      LoadLittle<uint32_t>(rest->data()) != zip::kCentralSignature) {
    return Damaged("the central directory has fewer entries than it says");
  }
  const std::byte* record = rest->data();
  const size_t name_size = LoadLittle<uint16_t>(record + 28);
  const size_t extra_size = LoadLittle<uint16_t>(record + 30);
  const size_t comment_size = LoadLittle<uint16_t>(record + 32);
  const size_t size = zip::kCentralSize + name_size + extra_size + comment_size;
  if (size > rest->size()) return Damaged("the central directory is cut off");
  entry->name = Text(rest->subspan(zip::kCentralSize, name_size));
  const Bytes extra = rest->subspan(zip::kCentralSize + name_size, extra_size);
  *rest = rest->subspan(size);

  if ((LoadLittle<uint16_t>(record + 8) & zip::kFlagEncrypted) != 0) {
    return UnsupportedError("zip entry " + Quoted(entry->name) + " is encrypted",
                            "store it without a password");
  }
  entry->method = LoadLittle<uint16_t>(record + 10);
  entry->crc32 = LoadLittle<uint32_t>(record + 16);
  uint64_t stored_size = LoadLittle<uint32_t>(record + 20);
  entry->size = LoadLittle<uint32_t>(record + 24);
  entry->header_offset = LoadLittle<uint32_t>(record + 42);
  MSPROBE_RETURN_IF_ERROR(ApplyExtra64(extra, &entry->size, &stored_size, &entry->header_offset));
  if (entry->method == zip::kMethodStored && stored_size != entry->size) {
    return Damaged("entry " + Quoted(entry->name) + " has two different sizes");
  }
  return LocateContents(before_directory, stored_size, entry);
}

Status CheckOverlap(const std::vector<ZipEntry>& entries, const std::byte* file) {
  std::vector<uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return entries[a].header_offset < entries[b].header_offset;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const ZipEntry& previous = entries[order[i - 1]];
    const auto end = static_cast<uint64_t>(previous.stored.data() + previous.stored.size() - file);
    if (end > entries[order[i]].header_offset) {
      return Damaged("entries " + Quoted(previous.name) + " and " + Quoted(entries[order[i]].name) +
                     " overlap");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<ZipArchive> ZipArchive::Open(Bytes bytes, const ZipLimits& limits) {
  Directory directory;
  MSPROBE_RETURN_IF_ERROR(LocateDirectory(bytes, &directory));
  if (directory.entries > limits.max_entries) {
    return LimitExceededError("zip archive of " + std::to_string(directory.entries) +
                                  " entries, the limit is " + std::to_string(limits.max_entries),
                              "check that the file is what it should be");
  }
  // Before anything is allocated by a number that the file only claims.
  if (directory.entries > directory.size / zip::kCentralSize) {
    return Damaged("the central directory has fewer entries than it says");
  }
  ZipArchive archive;
  archive.max_inflated_bytes_ = limits.max_inflated_bytes;
  archive.entries_.resize(directory.entries);
  const Bytes before_directory = bytes.first(directory.offset);
  Bytes rest = bytes.subspan(directory.offset, directory.size);
  for (ZipEntry& entry : archive.entries_) {
    MSPROBE_RETURN_IF_ERROR(TakeEntry(&rest, before_directory, &entry));
  }
  if (!rest.empty()) return Damaged("the central directory has more entries than it says");
  MSPROBE_RETURN_IF_ERROR(CheckOverlap(archive.entries_, bytes.data()));

  archive.by_name_.resize(archive.entries_.size());
  std::iota(archive.by_name_.begin(), archive.by_name_.end(), 0u);
  const auto name = [&](uint32_t i) { return archive.entries_[i].name; };
  std::sort(archive.by_name_.begin(), archive.by_name_.end(),
            [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  for (size_t i = 1; i < archive.by_name_.size(); ++i) {
    if (name(archive.by_name_[i - 1]) == name(archive.by_name_[i])) {
      return Damaged("two entries are named " + Quoted(name(archive.by_name_[i])));
    }
  }
  return archive;
}

const ZipEntry* ZipArchive::Find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](uint32_t i, std::string_view key) { return entries_[i].name < key; });
  if (found == by_name_.end() || entries_[*found].name != name) return nullptr;
  return &entries_[*found];
}

Result<Bytes> ZipArchive::Read(const ZipEntry& entry, std::vector<std::byte>* buffer) const {
  if (entry.method == zip::kMethodStored) return entry.stored;
  if (entry.method != zip::kMethodDeflated) {
    return UnsupportedError("zip entry " + Quoted(entry.name) + " is compressed by method " +
                                std::to_string(entry.method),
                            "store it uncompressed");
  }
  if (entry.size > max_inflated_bytes_) {
    return LimitExceededError(
        "zip entry " + Quoted(entry.name) + " of " + std::to_string(entry.size) +
            " bytes when decompressed, the limit is " + std::to_string(max_inflated_bytes_),
        "check that the file is what it should be");
  }
  // Deflate cannot shrink data to less than 1/1032: a larger size is a lie, found before it costs
  // memory.
  if (entry.size > 0 && entry.size / 1032 > entry.stored.size()) {
    return Damaged("entry " + Quoted(entry.name) + " claims an impossible size");
  }
  buffer->resize(entry.size);
  if (!Inflate(entry.stored, *buffer)) {
    return Damaged("entry " + Quoted(entry.name) + " cannot be decompressed to its size");
  }
  MSPROBE_RETURN_IF_ERROR(VerifyCrc(entry, *buffer));
  return Bytes(*buffer);
}

Status ZipArchive::VerifyCrc(const ZipEntry& entry, Bytes contents) {
  if (entry.crc32 == 0 || base::Crc32(0, contents) == entry.crc32) return Status::Ok();
  return Damaged("the contents of entry " + Quoted(entry.name) + " do not match its checksum");
}

}  // namespace msprobe::formats
