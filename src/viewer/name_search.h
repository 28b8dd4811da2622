#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "visfile/unit_index.h"

namespace msprobe::viewer {

/// Substring search over the names of one side, ASCII case ignored; `*` in the query stands for
/// any text. Thread-safe.
class NameSearch {
 public:
  explicit NameSearch(const visfile::SideIndex& side) : side_(side) {}

  /// Makes a folded copy of the names, unless that was done; the first search does so itself.
  void Prepare();

  struct Page {
    uint64_t total = 0;
    std::vector<uint32_t> ids;
  };
  /// Hits [offset, offset + limit) in execution order, and how many there are in all.
  Page Find(std::string_view query, uint64_t offset, uint64_t limit, size_t threads);

 private:
  void FoldNames();
  /// Hits among the names of the positions [begin, end); keeps the first `limit`.
  Page FindIn(size_t begin, size_t end, const std::vector<std::string>& parts,
              uint64_t limit) const;
  /// What a query looks for first.
  struct Needle {
    std::string_view text;
    size_t rare_at = 0;    ///< its rarest byte
    size_t next_at = 0;    ///< the rarest of the others; the same where it has one byte alone
    bool missing = false;  ///< that byte is in no name
  };
  Needle NeedleOf(const std::vector<std::string>& parts) const;
  size_t NextHit(const Needle& needle, size_t at, size_t end) const;
  bool MatchesRest(std::string_view name, const std::vector<std::string>& parts) const;

  const visfile::SideIndex& side_;
  std::once_flag prepared_;
  std::string folded_;             ///< names in execution order, each ended by '\n'
  std::vector<uint64_t> offsets_;  ///< begin of each name in `folded_`, by position
  std::array<uint64_t, 256> byte_counts_{};
};

}  // namespace msprobe::viewer
