#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe::formats {

struct TensorFileLimits {
  uint64_t max_elements = uint64_t{1} << 40;
  uint32_t max_dimensions = 64;
  uint64_t max_header_bytes = 1 << 20;  ///< npy header, pickle program
  uint32_t max_zip_entries = 65'536;
  uint64_t max_inflated_bytes = uint64_t{1} << 32;  ///< of compressed zip entries
};

/// A tensor read from a file: the values lie in the mapped file, or in `owned` where they had to
/// be decompressed or byte-swapped.
struct StoredTensor {
  base::MappedFile file;
  std::vector<std::byte> owned;
  const std::byte* data = nullptr;
  DType dtype = DType::kUnknown;
  bool conjugate = false;
  bool negative = false;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  TensorView view() const { return {data, dtype, conjugate, negative, shape, strides}; }
};

/// Opens an .npy or torch .pt file, told apart by the first bytes, whatever its name is. Nothing
/// in the file is executed. Errors: NotFound, Io, Corrupt, Unsupported, LimitExceeded.
Result<StoredTensor> OpenTensorFile(const std::filesystem::path& path,
                                    const TensorFileLimits& limits = {});

/// Checks what a torch .pt archive holds against its checksums. OpenTensorFile leaves this out: it
/// reads every value. Other formats have no checksums: Ok. Errors: Corrupt, LimitExceeded.
Status VerifyChecksums(const StoredTensor& tensor, const TensorFileLimits& limits = {});

}  // namespace msprobe::formats
