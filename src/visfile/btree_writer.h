#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/status.h"
#include "visfile/page_file.h"

namespace msprobe::visfile {

/// Fills an empty table or index of a SQLite file from the left to the right: each page is written
/// once, full, where SQLite would look for the place of every row. Several may write to one
/// PageFile in turn.
class BTreeWriter {
 public:
  enum class Kind : uint8_t { kTable, kIndex };

  /// `root` is the number of the tree's first page, an empty leaf.
  BTreeWriter(PageFile* file, Kind kind, uint32_t root);

  /// The next row of a table: `row_id` is larger than the one before. The record is what `pieces`
  /// are together.
  Status AddRow(int64_t row_id, std::span<const std::string_view> pieces);
  /// The next entry of an index: columns and row id, in the order in which SQLite sorts them.
  Status AddEntry(std::span<const std::string_view> pieces);
  Status Finish();

 private:
  struct Child {
    uint32_t page;
    std::string separator;  ///< cell behind it, without the child's number
  };

  class Page {
   public:
    explicit Page(uint8_t type);
    bool Fits(size_t cell_size) const;
    char* AddCell(size_t size);
    std::string TakeLastCell();
    /// The bytes of the page. `right_child` only matters inside the tree.
    const char* Finish(uint32_t right_child = 0);
    void Clear();

   private:
    size_t header_size() const;

    std::unique_ptr<char[]> bytes_;
    uint8_t type_;
    size_t content_begin_ = PageFile::kPageSize;
    std::vector<uint32_t> sizes_;
  };

  Status AddCell(std::string_view head, std::span<const std::string_view> pieces);
  Status EndLeaf();
  Result<std::string> SpillTail(std::string_view tail);
  Result<std::vector<Child>> WriteLevel(std::vector<Child> children);

  PageFile& file_;
  Kind kind_;
  uint32_t root_;
  Page leaf_;
  std::vector<Child> leaves_;
  int64_t last_row_id_ = 0;
  std::string head_;
  std::string joined_;
};

}  // namespace msprobe::visfile
