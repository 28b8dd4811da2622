#include "formats/zip/zip_writer.h"

#include <algorithm>

#include "base/crc32.h"
#include "formats/byte_order.h"
#include "formats/zip/zip_format.h"

namespace msprobe::formats {

namespace {

constexpr size_t kAlignment = 64;
constexpr uint16_t kPaddingExtra = 0x4246;  // "FB", the id torch pads with
constexpr uint16_t kDate = 0x0021;          // 1980-01-01: the same tensor gives the same file
constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersion64 = 45;

bool Needs64(uint64_t number) { return number >= zip::kMax32; }

uint32_t Clamp32(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, zip::kMax32));
}

/// The zip64 extra field of the central directory; empty when everything fits in 32 bits.
std::string CentralExtra64(uint64_t size, uint64_t offset) {
  std::string numbers;
  if (Needs64(size)) {
    AppendLittle(size, &numbers);
    AppendLittle(size, &numbers);
  }
  if (Needs64(offset)) AppendLittle(offset, &numbers);
  if (numbers.empty()) return numbers;
  std::string extra;
  AppendLittle(zip::kExtra64, &extra);
  AppendLittle(static_cast<uint16_t>(numbers.size()), &extra);
  return extra + numbers;
}

void AppendEnd64Records(uint64_t begin, uint64_t size, uint64_t entries, std::string* out) {
  AppendLittle(zip::kEnd64Signature, out);
  AppendLittle(uint64_t{zip::kEnd64Size - 12}, out);
  AppendLittle(kVersion64, out);
  AppendLittle(kVersion64, out);
  AppendLittle(uint64_t{0}, out);  // disks
  AppendLittle(entries, out);
  AppendLittle(entries, out);
  AppendLittle(size, out);
  AppendLittle(begin, out);
  AppendLittle(zip::kLocator64Signature, out);
  AppendLittle(uint32_t{0}, out);
  AppendLittle(begin + size, out);
  AppendLittle(uint32_t{1}, out);
}

void AppendEndRecords(uint64_t begin, uint64_t size, uint64_t entries, std::string* out) {
  if (Needs64(begin)) AppendEnd64Records(begin, size, entries, out);
  AppendLittle(zip::kEndSignature, out);
  AppendLittle(uint32_t{0}, out);  // disks
  AppendLittle(static_cast<uint16_t>(entries), out);
  AppendLittle(static_cast<uint16_t>(entries), out);
  AppendLittle(static_cast<uint32_t>(size), out);
  AppendLittle(Clamp32(begin), out);
  AppendLittle(uint16_t{0}, out);
}

}  // namespace

void ZipWriter::AppendCentralRecord(const Entry& entry, std::string* out) {
  const std::string extra = CentralExtra64(entry.size, entry.offset);
  const uint16_t version = extra.empty() ? kVersion : kVersion64;
  AppendLittle(zip::kCentralSignature, out);
  AppendLittle(version, out);
  AppendLittle(version, out);
  AppendLittle(entry.flags, out);
  AppendLittle(zip::kMethodStored, out);
  AppendLittle(uint16_t{0}, out);
  AppendLittle(kDate, out);
  AppendLittle(entry.crc32, out);
  AppendLittle(Clamp32(entry.size), out);
  AppendLittle(Clamp32(entry.size), out);
  AppendLittle(static_cast<uint16_t>(entry.name.size()), out);
  AppendLittle(static_cast<uint16_t>(extra.size()), out);
  out->append(10, '\0');  // comment length, disk, attributes
  AppendLittle(Clamp32(entry.offset), out);
  *out += entry.name;
  *out += extra;
}

Status ZipWriter::WriteLocalHeader(const Entry& entry) {
  const bool needs64 = Needs64(entry.size);
  std::string extra;
  if (needs64) {
    AppendLittle(zip::kExtra64, &extra);
    AppendLittle(uint16_t{16}, &extra);
    AppendLittle(entry.size, &extra);
    AppendLittle(entry.size, &extra);
  }
  const size_t end = entry.offset + zip::kLocalSize + entry.name.size() + extra.size() + 4;
  const size_t padding = (kAlignment - end % kAlignment) % kAlignment;
  AppendLittle(kPaddingExtra, &extra);
  AppendLittle(static_cast<uint16_t>(padding), &extra);
  extra.append(padding, '\0');

  std::string header;
  AppendLittle(zip::kLocalSignature, &header);
  AppendLittle(needs64 ? kVersion64 : kVersion, &header);
  AppendLittle(entry.flags, &header);
  AppendLittle(zip::kMethodStored, &header);
  AppendLittle(uint16_t{0}, &header);
  AppendLittle(kDate, &header);
  AppendLittle(entry.crc32, &header);
  AppendLittle(Clamp32(entry.size), &header);
  AppendLittle(Clamp32(entry.size), &header);
  AppendLittle(static_cast<uint16_t>(entry.name.size()), &header);
  AppendLittle(static_cast<uint16_t>(extra.size()), &header);
  header += entry.name;
  header += extra;
  return file_->Append(header);
}

Status ZipWriter::Add(std::string_view name, std::string_view contents) {
  Entry& entry = entries_.emplace_back();
  entry.name = name;
  entry.offset = file_->size();
  entry.size = contents.size();
  entry.crc32 = base::Crc32(0, std::as_bytes(std::span(contents)));
  entry.flags = zip::kFlagUtf8;
  MSPROBE_RETURN_IF_ERROR(WriteLocalHeader(entry));
  return file_->Append(contents);
}

Status ZipWriter::Begin(std::string_view name, uint64_t size) {
  Entry& entry = entries_.emplace_back();
  entry.name = name;
  entry.offset = file_->size();
  entry.size = size;
  entry.flags = zip::kFlagUtf8 | zip::kFlagDescriptor;
  appended_ = 0;
  return WriteLocalHeader(entry);
}

Status ZipWriter::Append(std::span<const std::byte> data) {
  entries_.back().crc32 = base::Crc32(entries_.back().crc32, data);
  appended_ += data.size();
  return file_->Append(data);
}

Status ZipWriter::End() {
  const Entry& entry = entries_.back();
  if (appended_ != entry.size) return InternalError("zip entry of another size than announced");
  std::string descriptor;
  AppendLittle(zip::kDescriptorSignature, &descriptor);
  AppendLittle(entry.crc32, &descriptor);
  for (int i = 0; i < 2; ++i) {
    if (Needs64(entry.size)) {
      AppendLittle(entry.size, &descriptor);
    } else {
      AppendLittle(static_cast<uint32_t>(entry.size), &descriptor);
    }
  }
  return file_->Append(descriptor);
}

Status ZipWriter::Finish() {
  const uint64_t begin = file_->size();
  std::string out;
  for (const Entry& entry : entries_) AppendCentralRecord(entry, &out);
  AppendEndRecords(begin, out.size(), entries_.size(), &out);
  return file_->Append(out);
}

}  // namespace msprobe::formats
