#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "visfile/unit_index.h"

namespace msprobe::viewer {

/// Substring search over the names of one side, ASCII case ignored; `*` in the query stands for
/// any text. The folded copy of the names is made at the first search. Thread-safe.
class NameSearch {
 public:
  explicit NameSearch(const visfile::SideIndex& side) : side_(side) {}

  /// Ids of all hits in execution order.
  std::vector<uint32_t> Find(std::string_view query);

 private:
  void Prepare();
  bool MatchesRest(std::string_view name, const std::vector<std::string>& parts) const;

  const visfile::SideIndex& side_;
  std::once_flag prepared_;
  std::string folded_;             ///< names in execution order, each ended by '\n'
  std::vector<uint64_t> offsets_;  ///< begin of each name in `folded_`, by position
};

}  // namespace msprobe::viewer
