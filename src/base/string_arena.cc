#include "base/string_arena.h"

#include <cstring>
#include <utility>

namespace msprobe::base {

std::string_view StringArena::Copy(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kBlock / 4) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
    std::memcpy(blocks_.back().get(), text.data(), text.size());
    return {blocks_.back().get(), text.size()};
  }
  if (text.size() > left_) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    block_ = blocks_.back().get();
    position_ = block_;
    left_ = kBlock;
  }
  std::memcpy(position_, text.data(), text.size());
  const std::string_view copy(position_, text.size());
  position_ += text.size();
  left_ -= text.size();
  return copy;
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
