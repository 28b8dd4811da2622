#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msprobe::compare {

/// Sentences or names, each kept once; 0 is none.
class ReasonTable {
 public:
  uint32_t Intern(std::string_view reason) {
    if (reason.empty()) return 0;
    const auto found = ids_.find(reason);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<uint32_t>(reasons_.size());
    reasons_.emplace_back(reason);
    ids_.emplace(reason, id);
    return id;
  }
  const std::string& text(uint32_t id) const { return reasons_[id]; }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> reasons_ = {""};
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace msprobe::compare
