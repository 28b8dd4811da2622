#include "base/string_arena.h"

#include <cstring>
#include <utility>

namespace msprobe::base {

char* StringArena::Reserve(size_t size) {
  if (size > kBlock / 4) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    return blocks_.back().get();
  }
  if (size > left_) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    block_ = blocks_.back().get();
    position_ = block_;
    left_ = kBlock;
  }
  char* const place = position_;
  position_ += size;
  left_ -= size;
  return place;
}

std::string_view StringArena::Copy(std::string_view text) {
  if (text.empty()) return {};
  char* const copy = Reserve(text.size());
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

void StringArena::Clear() {
  std::erase_if(blocks_, [this](const auto& block) { return block.get() != block_; });
  position_ = block_;
  left_ = block_ == nullptr ? 0 : kBlock;
}

void StringArena::Adopt(StringArena&& other) {
  for (std::unique_ptr<char[]>& block : other.blocks_) blocks_.push_back(std::move(block));
  other.blocks_.clear();
  other.block_ = nullptr;
  other.position_ = nullptr;
  other.left_ = 0;
}

}  // namespace msprobe::base
