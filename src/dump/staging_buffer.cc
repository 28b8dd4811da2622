#include "dump/staging_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace msprobe::dump {

namespace {

// malloc keeps smaller blocks itself.
constexpr size_t kPooledSize = size_t{64} << 10;
constexpr size_t kHugePage = size_t{2} << 20;
// As much as waits in the queue of a writer: fresh memory costs as much as copying into it.
constexpr size_t kKeptBytes = size_t{256} << 20;

struct Block {
  std::byte* data = nullptr;
  size_t capacity = 0;
};

/// Never waits for its lock: a child that was forked while a thread held it must not hang.
class Pool {
 public:
  /// A kept block that is large enough and not much too large.
  Block Take(size_t size) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    for (Block& block : blocks_) {
      if (block.capacity < size || block.capacity / 2 > size) continue;
      const Block taken = block;
      block = blocks_.back();
      blocks_.pop_back();
      kept_ -= taken.capacity;
      return taken;
    }
    return {};
  }

  void Give(Block block) {
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock && kept_ + block.capacity <= kKeptBytes) {
        kept_ += block.capacity;
        blocks_.push_back(block);
        return;
      }
    }
    ::munmap(block.data, block.capacity);
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t kept_ = 0;
};

Pool& TensorPool() {
  static auto* const pool = new Pool;  // outlives every thread
  return *pool;
}

Block Map(size_t size) {
  const size_t unit = size >= kHugePage ? kHugePage : kPooledSize;
  const size_t capacity = (size + unit - 1) / unit * unit;
  void* data =
      ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return {};
  if (capacity >= kHugePage) ::madvise(data, capacity, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(data), capacity};
}

}  // namespace

StagingBuffer::StagingBuffer(StagingBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}

StagingBuffer& StagingBuffer::operator=(StagingBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

StagingBuffer::~StagingBuffer() {
  if (data_ == nullptr) return;
  if (capacity_ < kPooledSize) {
    std::free(data_);
  } else {
    TensorPool().Give({data_, capacity_});
  }
}

StagingBuffer StagingBuffer::Allocate(size_t size) {
  StagingBuffer buffer;
  if (size == 0) return buffer;
  if (size < kPooledSize) {
    buffer.data_ = static_cast<std::byte*>(std::malloc(size));
    buffer.capacity_ = size;
    return buffer;
  }
  Block block = TensorPool().Take(size);
  if (block.data == nullptr) block = Map(size);
  buffer.data_ = block.data;
  buffer.capacity_ = block.capacity;
  return buffer;
}

}  // namespace msprobe::dump
