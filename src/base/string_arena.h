#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace msprobe::base {

/// Owns many small strings in few allocations; the views stay valid as long as the arena lives.
class StringArena {
 public:
  std::string_view Copy(std::string_view text);
  /// Room for `size` bytes, which is more than 0.
  char* Reserve(size_t size);
  /// Takes over the strings of another arena; their views stay valid.
  void Adopt(StringArena&& other);
  /// Forgets all strings and keeps one block, so that an arena that is reused need not allocate.
  void Clear();

 private:
  static constexpr size_t kBlock = 64 << 10;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_ = nullptr;  ///< the one of kBlock bytes that is being filled
  char* position_ = nullptr;
  size_t left_ = 0;
};

}  // namespace msprobe::base
