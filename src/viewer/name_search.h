#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/status.h"
#include "visfile/unit_index.h"

namespace msprobe::viewer {

/// Substring search over the names of one side, ASCII case ignored. A `*` between two parts of the
/// query stands for any text and for the names of boxes in between: what comes before it may stand
/// in the name itself or in those of the boxes around, what comes last must be in the name itself.
/// Thread-safe.
class NameSearch {
 public:
  /// `other` searches the side of the partners. Most partners have the same name, which is then
  /// kept and looked at there alone.
  explicit NameSearch(const visfile::SideIndex& side, NameSearch* other = nullptr)
      : side_(side), other_(other) {}

  /// Makes a folded copy of the names, unless that was done; the first search does so itself.
  void Prepare();

  static constexpr size_t kMostParts = 16;  ///< that stars divide a query into
  /// Errors: InvalidArgument for a query of more parts.
  static Status Check(std::string_view query);

  using Marks = std::vector<uint64_t>;  ///< a bit for each place in execution order
  struct Page {
    uint64_t total = 0;
    std::vector<uint32_t> ids;
    Marks marks;  ///< the hits
    Marks last;   ///< of a query of several parts: the names that hold the last one
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
  Needle NeedleOf(const std::string& part) const;
  /// The names that hold a part; `known`: those of the other side.
  Marks MarksOf(const std::string& part, size_t threads, const Marks* known) const;
  /// Calls `emit` with the positions in [begin, end) whose own names are hits.
  template <class Emit>
  void ForHits(size_t begin, size_t end, const std::string& part, Emit emit) const;
  void MarkAll(Marks* marks) const;
  /// Sets the marks of the positions [begin, end).
  void MarkShared(size_t begin, size_t end, const Marks& known, Marks* marks) const;
  /// How many parts are found up to the end of the name at a position, of which `found` are around.
  size_t FoundUpTo(size_t position, size_t found, const std::vector<std::string>& parts) const;
  /// How many are in the boxes around it, but for the last part; `known`: by position of a box, one
  /// more than what is found up to its name, or 0.
  size_t FoundAround(size_t position, const std::vector<std::string>& parts,
                     std::vector<uint8_t>* known) const;
  void MarkPaths(const std::vector<std::string>& parts, size_t threads, Page* page) const;
  std::string_view NameAt(size_t position) const;
  size_t NextHit(const Needle& needle, size_t at, size_t end) const;
  size_t NextOfByte(const Needle& needle, size_t at, size_t end) const;
  size_t NextOfPair(const Needle& needle, size_t at, size_t end) const;

  const visfile::SideIndex& side_;
  NameSearch* const other_;
  std::vector<uint32_t> shared_;  ///< by position: the other side's position of the same name
  std::vector<uint8_t> same_;  ///< by whole word of marks: all names are shared, at the same places
  std::once_flag prepared_;
  std::string folded_;             ///< own names in execution order, each ended by '\n'
  std::vector<uint64_t> offsets_;  ///< begin of each name in `folded_`, by position
  std::array<uint64_t, 256> byte_counts_{};
};

}  // namespace msprobe::viewer
