#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msprobe::visfile {

/// Shapes as text, each once; 0 is none.
class ShapeTable {
 public:
  uint32_t Intern(std::string_view shape) {
    if (shape.empty()) return 0;
    const auto [known, is_new] =
        ids_.try_emplace(std::string(shape), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.emplace_back(shape);
    return known->second;
  }
  std::vector<std::string> TakeTexts() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace msprobe::visfile
