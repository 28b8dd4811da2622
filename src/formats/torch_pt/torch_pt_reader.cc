#include "formats/torch_pt/torch_pt_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/byte_order.h"
#include "formats/pickle/pickle_reader.h"
#include "formats/torch_pt/tensor_recipe.h"
#include "formats/zip/zip_format.h"
#include "formats/zip/zip_reader.h"

namespace msprobe::formats {

namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleNode::Kind;

// The first pickle of the legacy format is this number, in binary or (protocol 1) decimal.
constexpr std::string_view kLegacyMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::string_view kLegacyMagicDecimal = "119547037146038801333356";
constexpr int64_t kLegacyProtocol = 1001;

std::string_view Text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool LooksLikeZip(Bytes bytes) {
  return Text(bytes).starts_with("PK\x03\x04") || Text(bytes).starts_with("PK\x05\x06");
}

bool LooksLikeTar(Bytes bytes) {
  return bytes.size() > 262 && Text(bytes).substr(257, 5) == "ustar";
}

bool LooksLikePickle(Bytes bytes) {
  return !bytes.empty() && (bytes[0] == std::byte{0x80} || bytes[0] == std::byte{'L'});
}

Result<ZipArchive> OpenArchive(Bytes bytes, const TensorFileLimits& limits) {
  return ZipArchive::Open(bytes, {.max_entries = limits.max_zip_entries,
                                  .max_inflated_bytes = limits.max_inflated_bytes});
}

/// An entry that must be there, named "<archive>/<name>".
Result<Bytes> ReadEntry(const ZipArchive& archive, std::string_view root, std::string_view name,
                        std::vector<std::byte>* buffer) {
  const std::string full_name = std::string(root) + "/" + std::string(name);
  const ZipEntry* entry = archive.Find(full_name);
  if (entry == nullptr) {
    return CorruptError("the .pt archive has no entry '" + full_name + "'", "write the file again");
  }
  MSPROBE_ASSIGN_OR_RETURN(const Bytes contents, archive.Read(*entry, buffer));
  return contents;
}

Result<bool> IsBigEndian(const ZipArchive& archive, std::string_view root) {
  const ZipEntry* entry = archive.Find(std::string(root) + "/byteorder");
  if (entry == nullptr) return false;  // torch before 2.1
  std::vector<std::byte> buffer;
  MSPROBE_ASSIGN_OR_RETURN(const Bytes contents, archive.Read(*entry, &buffer));
  if (Text(contents) == "little") return false;
  if (Text(contents) == "big") return true;
  return CorruptError("the .pt archive's byte order is neither little nor big",
                      "write the file again");
}

Status NoTorchArchive(const ZipArchive& archive) {
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(".npy")) continue;
    return UnsupportedError("zip archive of .npy files (.npz)", "unpack it and give one .npy file");
  }
  return UnsupportedError("zip archive that torch.save did not write", "check the path");
}

Result<StoredTensor> ReadZip(Bytes bytes, const TensorFileLimits& limits) {
  MSPROBE_ASSIGN_OR_RETURN(const ZipArchive archive, OpenArchive(bytes, limits));
  if (archive.entries().empty()) return NoTorchArchive(archive);
  const std::string_view first = archive.entries()[0].name;
  const std::string_view root = first.substr(0, first.find('/'));
  const ZipEntry* program = archive.Find(std::string(root) + "/data.pkl");
  if (program == nullptr) return NoTorchArchive(archive);
  if (program->size > limits.max_header_bytes) {
    return LimitExceededError("pickle of " + std::to_string(program->size) +
                                  " bytes, the limit is " + std::to_string(limits.max_header_bytes),
                              "store one tensor in each file");
  }
  std::vector<std::byte> buffer;
  MSPROBE_ASSIGN_OR_RETURN(const Bytes pickle, archive.Read(*program, &buffer));
  MSPROBE_RETURN_IF_ERROR(ZipArchive::VerifyCrc(*program, pickle));
  MSPROBE_ASSIGN_OR_RETURN(const PickleDocument document,
                           ReadPickle(pickle, limits.max_header_bytes, IsTorchGlobal));
  MSPROBE_ASSIGN_OR_RETURN(TensorRecipe recipe, FindTensor(document, limits));
  MSPROBE_ASSIGN_OR_RETURN(const bool big_endian, IsBigEndian(archive, root));

  StoredTensor tensor;
  MSPROBE_ASSIGN_OR_RETURN(
      const Bytes storage,
      ReadEntry(archive, root, "data/" + std::string(recipe.storage.key), &tensor.owned));
  MSPROBE_RETURN_IF_ERROR(BuildTensor(std::move(recipe), storage, big_endian, &tensor));
  return tensor;
}

/// Reads pickles that follow one another.
class PickleSequence {
 public:
  PickleSequence(Bytes bytes, uint64_t max_bytes) : rest_(bytes), max_bytes_(max_bytes) {}

  Result<PickleDocument> Next() {
    MSPROBE_ASSIGN_OR_RETURN(PickleDocument document, ReadPickle(rest_, max_bytes_, IsTorchGlobal));
    rest_ = rest_.subspan(document.bytes_read);
    return document;
  }

  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
  uint64_t max_bytes_;
};

bool IsLegacyMagic(const PickleDocument& document) {
  const PickleNode& root = document[document.root];
  return root.kind == Kind::kBigInteger &&
         (root.text == kLegacyMagic || root.text == kLegacyMagicDecimal);
}

Status LegacyCutOff() {
  return CorruptError("the .pt file ends before its last storage", "write the file again");
}

/// The persistent ids of a pickle by the keys of their storages.
std::unordered_map<std::string_view, const PickleNode*> StorageIds(const PickleDocument& object) {
  std::unordered_map<std::string_view, const PickleNode*> ids;
  for (const PickleNode& node : object.nodes) {
    if (node.kind != Kind::kPersistentId) continue;
    const std::vector<uint32_t>& parts = object[node.items[0]].items;
    if (parts.size() > 2) ids.emplace(object[parts[2]].text, &node);
  }
  return ids;
}

/// Finds the values of the storage `key` among those that follow the list of keys: each is the
/// number of its elements and then their bytes, little-endian on every machine. Their dtypes stand
/// in the pickle of the object.
Result<Bytes> FindLegacyStorage(const PickleDocument& object, const PickleDocument& keys,
                                std::string_view key, Bytes rest) {
  const auto ids = StorageIds(object);
  for (const uint32_t index : keys[keys.root].items) {
    const std::string_view current = keys[index].text;
    const auto id = ids.find(current);
    if (id == ids.end()) {
      return CorruptError("the .pt file has a storage that no tensor uses", "write the file again");
    }
    MSPROBE_ASSIGN_OR_RETURN(const StorageReference storage,
                             ReadStorageReference(object, *id->second));
    if (rest.size() < 8) return LegacyCutOff();
    const auto count = LoadLittle<uint64_t>(rest.data());
    rest = rest.subspan(8);
    const size_t element_size = ElementSize(storage.dtype);
    if (count > rest.size() / element_size) return LegacyCutOff();
    if (current == key) return rest.first(count * element_size);
    rest = rest.subspan(count * element_size);
  }
  return CorruptError("the .pt file lacks the storage of its tensor", "write the file again");
}

Result<StoredTensor> ReadLegacy(Bytes bytes, const TensorFileLimits& limits) {
  PickleSequence pickles(bytes, limits.max_header_bytes);
  MSPROBE_ASSIGN_OR_RETURN(const PickleDocument magic, pickles.Next());
  if (!IsLegacyMagic(magic)) {
    return UnsupportedError("plain pickle file, not written by torch.save",
                            "store the tensor with torch.save");
  }
  MSPROBE_ASSIGN_OR_RETURN(const PickleDocument protocol, pickles.Next());
  if (protocol[protocol.root].integer != kLegacyProtocol) {
    return UnsupportedError("unknown version of torch's old file format",
                            "load it with torch and store the tensor again");
  }
  MSPROBE_RETURN_IF_ERROR(pickles.Next().status());  // the sizes of C types
  MSPROBE_ASSIGN_OR_RETURN(const PickleDocument object, pickles.Next());
  MSPROBE_ASSIGN_OR_RETURN(TensorRecipe recipe, FindTensor(object, limits));
  MSPROBE_ASSIGN_OR_RETURN(const PickleDocument keys, pickles.Next());
  MSPROBE_ASSIGN_OR_RETURN(const Bytes storage,
                           FindLegacyStorage(object, keys, recipe.storage.key, pickles.rest()));
  StoredTensor tensor;
  MSPROBE_RETURN_IF_ERROR(BuildTensor(std::move(recipe), storage, false, &tensor));
  return tensor;
}

}  // namespace

bool LooksLikeTorchPt(Bytes bytes) {
  return LooksLikeZip(bytes) || LooksLikePickle(bytes) || LooksLikeTar(bytes);
}

Result<StoredTensor> ReadTorchPt(Bytes bytes, const TensorFileLimits& limits) {
  if (LooksLikeZip(bytes)) return ReadZip(bytes, limits);
  if (LooksLikePickle(bytes)) return ReadLegacy(bytes, limits);
  return UnsupportedError("torch's first file format, a tar archive",
                          "load it with torch and store the tensor again");
}

Status VerifyTorchPt(Bytes bytes, const TensorFileLimits& limits) {
  if (!LooksLikeZip(bytes)) return Status::Ok();
  MSPROBE_ASSIGN_OR_RETURN(const ZipArchive archive, OpenArchive(bytes, limits));
  for (const ZipEntry& entry : archive.entries()) {
    if (entry.method != zip::kMethodStored) continue;
    MSPROBE_RETURN_IF_ERROR(ZipArchive::VerifyCrc(entry, entry.stored));
  }
  return Status::Ok();
}

}  // namespace msprobe::formats
