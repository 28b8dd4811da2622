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
  /// `other` searches the side of the partners. Most partners have the same name, which is then
  /// kept and looked at there alone.
  explicit NameSearch(const visfile::SideIndex& side, NameSearch* other = nullptr)
      : side_(side), other_(other) {}

  /// Makes a folded copy of the names, unless that was done; the first search does so itself.
  void Prepare();

  struct Page {
    uint64_t total = 0;
    std::vector<uint32_t> ids;
    std::vector<uint64_t> marks;  ///< a bit for each place in execution order: whether it is a hit
  };
  /// Hits [offset, offset + limit) in execution order, and how many there are in all. `known`: what
  /// the other side has found for this query, where somebody has asked it.
  Page Find(std::string_view query, uint64_t offset, uint64_t limit, size_t threads,
            const Page* known = nullptr);

 private:
  void FoldNames();
  bool TakesFromOther(uint32_t id) const;
  /// What a query looks for first.
  struct Needle {
    std::string_view text;
    size_t rare_at = 0;    ///< its rarest byte
    size_t next_at = 0;    ///< the rarest of the others; the same where it has one byte alone
    bool missing = false;  ///< that byte is in no name
    bool common = false;   ///< that byte is in many
  };
  Needle NeedleOf(const std::vector<std::string>& parts) const;
  /// Calls `emit` with the positions in [begin, end) whose own names are hits.
  template <class Emit>
  void ForHits(size_t begin, size_t end, const std::vector<std::string>& parts, Emit emit) const;
  void MarkAll(std::vector<uint64_t>* marks) const;
  /// Sets the marks of the positions [begin, end).
  void MarkShared(size_t begin, size_t end, const Page& known, std::vector<uint64_t>* marks) const;
  size_t NextHit(const Needle& needle, size_t at, size_t end) const;
  size_t NextOfByte(const Needle& needle, size_t at, size_t end) const;
  size_t NextOfPair(const Needle& needle, size_t at, size_t end) const;
  bool MatchesRest(std::string_view name, const std::vector<std::string>& parts) const;

  const visfile::SideIndex& side_;
  NameSearch* const other_;
  std::vector<uint32_t> shared_;  ///< by position: the other side's position of the same name
  std::once_flag prepared_;
  std::string folded_;             ///< own names in execution order, each ended by '\n'
  std::vector<uint64_t> offsets_;  ///< begin of each name in `folded_`, by position
  std::array<uint64_t, 256> byte_counts_{};
};

}  // namespace msprobe::viewer
