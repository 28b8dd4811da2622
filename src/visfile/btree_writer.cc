#include "visfile/btree_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "visfile/big_endian.h"

namespace msprobe::visfile {

namespace {

// https://www.sqlite.org/fileformat.html, with no bytes reserved at the end of pages.
constexpr size_t kPage = PageFile::kPageSize;
constexpr size_t kOverflowBytes = kPage - 4;
constexpr size_t kLargestInTable = kPage - 35;
constexpr size_t kLargestInIndex = (kPage - 12) * 64 / 255 - 23;
constexpr size_t kSmallest = (kPage - 12) * 32 / 255 - 23;

constexpr uint8_t kLeafBit = 8;
constexpr uint8_t kTableType = 5;
constexpr uint8_t kIndexType = 2;

/// How much of a record stands in its cell; the rest goes to overflow pages.
size_t LocalSize(size_t size, size_t largest) {
  if (size <= largest) return size;
  const size_t local = kSmallest + (size - kSmallest) % kOverflowBytes;
  return local <= largest ? local : kSmallest;
}

std::string NumberBytes(uint32_t number) {
  std::string bytes(4, '\0');
  StoreBigEndian(number, 4, bytes.data());
  return bytes;
}

}  // namespace

BTreeWriter::Page::Page(uint8_t type) : bytes_(std::make_unique<char[]>(kPage)), type_(type) {}

size_t BTreeWriter::Page::header_size() const { return (type_ & kLeafBit) != 0 ? 8 : 12; }

bool BTreeWriter::Page::Fits(size_t cell_size) const {
  return header_size() + 2 * (sizes_.size() + 1) + cell_size <= content_begin_;
}

char* BTreeWriter::Page::AddCell(size_t size) {
  content_begin_ -= size;
  StoreBigEndian(content_begin_, 2, bytes_.get() + header_size() + 2 * sizes_.size());
  sizes_.push_back(static_cast<uint32_t>(size));
  return bytes_.get() + content_begin_;
}

std::string BTreeWriter::Page::TakeLastCell() {
  std::string cell(bytes_.get() + content_begin_, sizes_.back());
  content_begin_ += sizes_.back();
  sizes_.pop_back();
  return cell;
}

const char* BTreeWriter::Page::Finish(uint32_t right_child) {
  char* page = bytes_.get();
  std::memset(page, 0, 8);
  page[0] = static_cast<char>(type_);
  StoreBigEndian(sizes_.size(), 2, page + 3);
  StoreBigEndian(content_begin_, 2, page + 5);  // 65536 is written as 0
  if ((type_ & kLeafBit) == 0) StoreBigEndian(right_child, 4, page + 8);
  const size_t gap = header_size() + 2 * sizes_.size();
  std::memset(page + gap, 0, content_begin_ - gap);
  return page;
}

void BTreeWriter::Page::Clear() {
  content_begin_ = kPage;
  sizes_.clear();
}

BTreeWriter::BTreeWriter(PageFile* file, Kind kind, uint32_t root)
    : file_(*file),
      kind_(kind),
      root_(root),
      leaf_(kLeafBit | (kind == Kind::kTable ? kTableType : kIndexType)) {}

Status BTreeWriter::AddRow(int64_t row_id, std::span<const std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  head_.clear();
  AppendVarint(size, &head_);
  AppendVarint(static_cast<uint64_t>(row_id), &head_);
  MSPROBE_RETURN_IF_ERROR(AddCell(head_, pieces));
  last_row_id_ = row_id;
  return Status::Ok();
}

Status BTreeWriter::AddEntry(std::span<const std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  head_.clear();
  AppendVarint(size, &head_);
  return AddCell(head_, pieces);
}

Status BTreeWriter::AddCell(std::string_view head, std::span<const std::string_view> pieces) {
  const size_t largest = kind_ == Kind::kTable ? kLargestInTable : kLargestInIndex;
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  std::string_view spilled[2];
  std::string tail_page;
  if (size > largest) {
    joined_.clear();
    for (const std::string_view piece : pieces) joined_.append(piece);
    const size_t local = LocalSize(size, largest);
    MSPROBE_ASSIGN_OR_RETURN(tail_page, SpillTail(std::string_view(joined_).substr(local)));
    spilled[0] = std::string_view(joined_).substr(0, local);
    spilled[1] = tail_page;
    pieces = spilled;
    size = local + tail_page.size();
  }
  if (!leaf_.Fits(head.size() + size)) MSPROBE_RETURN_IF_ERROR(EndLeaf());
  char* place = leaf_.AddCell(head.size() + size);
  place = std::copy(head.begin(), head.end(), place);
  for (const std::string_view piece : pieces) place = std::copy(piece.begin(), piece.end(), place);
  return Status::Ok();
}

/// Writes what does not fit into a cell, last piece first, as each names the next; returns the
/// number of the first page as the cell has it.
Result<std::string> BTreeWriter::SpillTail(std::string_view tail) {
  std::string page(kPage, '\0');
  uint32_t next = 0;
  for (size_t count = (tail.size() + kOverflowBytes - 1) / kOverflowBytes; count-- > 0;) {
    const std::string_view piece = tail.substr(count * kOverflowBytes, kOverflowBytes);
    StoreBigEndian(next, 4, page.data());
    const auto end = std::copy(piece.begin(), piece.end(), page.begin() + 4);
    std::fill(end, page.end(), '\0');
    MSPROBE_ASSIGN_OR_RETURN(next, file_.Append(page.data()));
  }
  return NumberBytes(next);
}

/// In an index the entry between two pages stands in neither of them, but above.
Status BTreeWriter::EndLeaf() {
  std::string separator;
  if (kind_ == Kind::kIndex) {
    separator = leaf_.TakeLastCell();
  } else {
    AppendVarint(static_cast<uint64_t>(last_row_id_), &separator);
  }
  MSPROBE_ASSIGN_OR_RETURN(const uint32_t page, file_.Append(leaf_.Finish()));
  leaves_.push_back({page, std::move(separator)});
  leaf_.Clear();
  return Status::Ok();
}

/// Puts `children` under pages, each with two of them at least; a page that is the only one becomes
/// the root.
Result<std::vector<BTreeWriter::Child>> BTreeWriter::WriteLevel(std::vector<Child> children) {
  std::vector<Child> parents;
  Page page(kind_ == Kind::kTable ? kTableType : kIndexType);
  for (size_t i = 0; i < children.size(); ++i) {
    Child& child = children[i];
    const size_t size = child.separator.size() + 4;
    const size_t left = children.size() - i;
    // The child that ends a page takes no cell. The last page must not be left with one child.
    const bool last = left == 1;
    const bool ends = last || !page.Fits(size) ||
                      (left == 3 && !page.Fits(size + 2 + children[i + 1].separator.size() + 4));
    if (!ends) {
      char* cell = page.AddCell(size);
      StoreBigEndian(child.page, 4, cell);
      std::copy(child.separator.begin(), child.separator.end(), cell + 4);
      continue;
    }
    const char* bytes = page.Finish(child.page);
    uint32_t number = root_;
    if (last && parents.empty()) {
      MSPROBE_RETURN_IF_ERROR(file_.Overwrite(root_, bytes));
    } else {
      MSPROBE_ASSIGN_OR_RETURN(number, file_.Append(bytes));
    }
    parents.push_back({number, std::move(child.separator)});
    page.Clear();
  }
  return parents;
}

Status BTreeWriter::Finish() {
  if (leaves_.empty()) return file_.Overwrite(root_, leaf_.Finish());
  MSPROBE_ASSIGN_OR_RETURN(const uint32_t last, file_.Append(leaf_.Finish()));
  leaves_.push_back({last, {}});
  std::vector<Child> level = std::move(leaves_);
  while (level.size() > 1) {
    MSPROBE_ASSIGN_OR_RETURN(level, WriteLevel(std::move(level)));
  }
  return Status::Ok();
}

}  // namespace msprobe::visfile
