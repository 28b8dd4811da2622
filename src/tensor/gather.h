#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "msprobe/tensor_view.h"
#include "tensor/strided.h"

namespace msprobe::tensor {

/// Hands out the elements of a tensor in row-major order as contiguous little-endian blocks, with
/// the conjugate and negative flags applied. A contiguous tensor without these flags is not copied:
/// the blocks lie in its own memory.
class BlockReader {
 public:
  /// What `view.data` points to must outlive the reader; shape and strides are copied.
  explicit BlockReader(const TensorView& view, size_t block_bytes = size_t{64} << 10);

  /// The next block, empty at the end; valid until the next call. Every block but the last holds
  /// the same whole number of elements.
  std::span<const std::byte> Next();

  size_t block_bytes() const { return block_elements_ * layout_.element_size; }

 private:
  bool transposed() const;
  void Fill(int64_t count);
  int64_t FillRows(int64_t count, std::byte* to);
  void NextRow();

  Layout layout_;
  DType dtype_;
  bool conjugate_;
  bool negative_;
  size_t block_elements_;
  int64_t done_ = 0;
  int64_t inner_done_ = 0;
  std::array<int64_t, 64> index_{};
  const std::byte* row_;
  std::vector<std::byte> buffer_;
};

/// Copies `count` elements of `size` bytes that lie `stride` elements apart to contiguous memory.
void CopyRun(const std::byte* from, int64_t stride, int64_t count, size_t size, std::byte* to);

/// Applies the conjugate and negative flags to contiguous values.
void ResolveFlags(DType dtype, bool conjugate, bool negative, std::span<std::byte> values);

}  // namespace msprobe::tensor
