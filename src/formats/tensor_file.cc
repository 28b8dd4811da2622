#include "formats/tensor_file.h"

#include <utility>

#include "formats/npy/npy_reader.h"
#include "formats/torch_pt/torch_pt_reader.h"

namespace msprobe::formats {

namespace {

Result<StoredTensor> ReadTensor(std::span<const std::byte> bytes, const TensorFileLimits& limits) {
  if (bytes.empty()) return CorruptError("the file is empty", "write the file again");
  if (LooksLikeNpy(bytes)) return ReadNpy(bytes, limits);
  if (LooksLikeTorchPt(bytes)) return ReadTorchPt(bytes, limits);
  return UnsupportedError("neither an .npy file nor a torch .pt file", "check the path");
}

}  // namespace

Result<StoredTensor> OpenTensorFile(const std::filesystem::path& path,
                                    const TensorFileLimits& limits) {
  MSPROBE_ASSIGN_OR_RETURN(base::MappedFile file, base::MappedFile::Open(path));
  Result<StoredTensor> tensor = ReadTensor(file.bytes(), limits);
  if (!tensor.ok()) return std::move(tensor).status().WithPath(path.string());
  tensor->file = std::move(file);  // the mapping keeps its address
  return tensor;
}

Status VerifyChecksums(const StoredTensor& tensor, const TensorFileLimits& limits) {
  return VerifyTorchPt(tensor.file.bytes(), limits);
}

}  // namespace msprobe::formats
