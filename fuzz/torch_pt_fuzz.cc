#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/crc32.h"
#include "formats/byte_order.h"
#include "formats/torch_pt/torch_pt_reader.h"
#include "formats/zip/zip_format.h"
#include "stored_tensor_use.h"

namespace {

using msprobe::formats::AppendLittle;
namespace zip = msprobe::formats::zip;

/// One stored entry of a sound archive: a fuzzer does not find checksums by itself.
void AddEntry(std::string_view name, std::string_view contents, std::string* file,
              std::string* directory) {
  const auto size = static_cast<uint32_t>(contents.size());
  std::string middle;  // what both headers have in common
  AppendLittle(uint16_t{0}, &middle);
  AppendLittle(zip::kMethodStored, &middle);
  AppendLittle(uint32_t{0}, &middle);
  AppendLittle(msprobe::base::Crc32(0, std::as_bytes(std::span(contents))), &middle);
  AppendLittle(size, &middle);
  AppendLittle(size, &middle);
  AppendLittle(static_cast<uint16_t>(name.size()), &middle);
  AppendLittle(uint16_t{0}, &middle);

  AppendLittle(zip::kCentralSignature, directory);
  AppendLittle(uint32_t{20}, directory);
  *directory += middle + std::string(10, '\0');
  AppendLittle(static_cast<uint32_t>(file->size()), directory);
  *directory += name;

  AppendLittle(zip::kLocalSignature, file);
  AppendLittle(uint16_t{20}, file);
  *file += middle;
  *file += name;
  *file += contents;
}

std::string Archive(std::string_view pickle) {
  std::string file;
  std::string directory;
  AddEntry("a/data.pkl", pickle, &file, &directory);
  AddEntry("a/data/0", std::string(64, 'x'), &file, &directory);
  AddEntry("a/byteorder", pickle.size() % 2 == 0 ? "little" : "big", &file, &directory);
  const auto begin = static_cast<uint32_t>(file.size());
  file += directory;
  AppendLittle(zip::kEndSignature, &file);
  AppendLittle(uint32_t{0}, &file);
  AppendLittle(uint16_t{3}, &file);
  AppendLittle(uint16_t{3}, &file);
  AppendLittle(static_cast<uint32_t>(directory.size()), &file);
  AppendLittle(begin, &file);
  AppendLittle(uint16_t{0}, &file);
  return file;
}

void ReadFile(std::span<const std::byte> bytes) {
  if (!msprobe::formats::LooksLikeTorchPt(bytes)) return;
  msprobe::formats::TensorFileLimits limits;
  limits.max_inflated_bytes = 1 << 20;
  const auto tensor = msprobe::formats::ReadTorchPt(bytes, limits);
  if (tensor.ok()) msprobe::fuzz::UseTensor(*tensor);
}

}  // namespace

/// The input is a whole file; or, after the letter P, the pickle of a sound archive.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("P") && !text.starts_with("PK")) {
    const std::string archive = Archive(text.substr(1));
    ReadFile(std::as_bytes(std::span(archive)));
  } else {
    ReadFile(std::as_bytes(std::span(data, size)));
  }
  return 0;
}
