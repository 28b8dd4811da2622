#pragma once

#include <cstddef>

namespace msprobe::dump {

/// Memory for a copy of a tensor on its way to the disk. Large blocks lie on huge pages and are
/// kept for the next tensor: fresh pages cost more than the copy itself. Thread-safe.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(StagingBuffer&& other) noexcept;
  StagingBuffer& operator=(StagingBuffer&& other) noexcept;
  ~StagingBuffer();

  /// data() is null if there is no memory left, or `size` is 0.
  static StagingBuffer Allocate(size_t size);

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }

 private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace msprobe::dump
