#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file.h"
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

}  // namespace msprobe::formats
