#include "report/xlsx_table.h"

#include <xlsxwriter.h>

#include <cerrno>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json/json_string.h"
#include "report/printable.h"
#include "report/table_columns.h"

namespace msprobe::report {

namespace {

constexpr size_t kLongestText = 32'000;  // Excel: 32,767 characters a cell
constexpr size_t kNodesPerPart = 512;
constexpr lxw_col_t kNameColumns = 2;

/// Text that may stand in XML, cut where Excel would refuse it: after escaping, which makes it
/// longer, and not inside a character.
std::string CellText(std::string_view text) {
  std::string out = Printable(formats::RepairedUtf8(text));
  if (out.size() <= kLongestText) return out;
  size_t end = kLongestText;
  while ((static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  out.resize(end);
  return out + " …";
}

class Workbook {
 public:
  Workbook(const TableRows& rows, uint64_t rows_per_sheet)
      : names_(ColumnNames(rows.comparison().mode)), rows_per_sheet_(rows_per_sheet) {}
  Workbook(const Workbook&) = delete;
  Workbook& operator=(const Workbook&) = delete;
  ~Workbook() {
    if (book_ != nullptr) (void)workbook_close(book_);
  }

  Status Open(const base::AtomicFile& file) {
    path_ = file.temporary_path().string();
    directory_ = file.temporary_path().parent_path().string();
    lxw_workbook_options options{};
    options.constant_memory = LXW_TRUE;
    // Its temporary files are as large as the workbook: they belong on the same disk.
    options.tmpdir = directory_.empty() ? nullptr : directory_.data();
    book_ = workbook_new_opt(path_.c_str(), &options);
    if (book_ == nullptr) return OutOfMemoryError("write csv instead", path_);
    bold_ = workbook_add_format(book_);
    format_set_bold(bold_);
    percent_ = workbook_add_format(book_);
    format_set_num_format(percent_, "0.000000%");
    bad_ = workbook_add_format(book_);
    format_set_bg_color(bad_, 0xF8CBAD);
    doubtful_ = workbook_add_format(book_);
    format_set_bg_color(doubtful_, 0xFFE699);
    return AddSheet();
  }

  Status Add(const std::vector<Cell>& cells) {
    if (row_ >= rows_per_sheet_) MSPROBE_RETURN_IF_ERROR(AddSheet());
    for (size_t i = 0; i < cells.size(); ++i) {
      const lxw_error error = Write(static_cast<lxw_col_t>(i), cells[i]);
      if (error != LXW_NO_ERROR) return Failed(error);
    }
    ++row_;
    ++rows_;
    return Status::Ok();
  }

  Result<uint64_t> Close() {
    FinishSheet();
    const lxw_error error = workbook_close(std::exchange(book_, nullptr));
    if (error != LXW_NO_ERROR) return Failed(error);
    return rows_;
  }

 private:
  Status AddSheet() {
    FinishSheet();
    const std::string name = ++sheets_ == 1 ? "rows" : "rows " + std::to_string(sheets_);
    sheet_ = workbook_add_worksheet(book_, name.c_str());
    if (sheet_ == nullptr) return OutOfMemoryError("write csv instead", path_);
    worksheet_set_column(sheet_, 0, kNameColumns - 1, 48, nullptr);
    worksheet_set_column(sheet_, kNameColumns, static_cast<lxw_col_t>(names_.size() - 1), 16,
                         nullptr);
    worksheet_freeze_panes(sheet_, 1, 1);
    for (size_t i = 0; i < names_.size(); ++i) {
      worksheet_write_string(sheet_, 0, static_cast<lxw_col_t>(i), std::string(names_[i]).c_str(),
                             bold_);
    }
    row_ = 1;
    return Status::Ok();
  }

  void FinishSheet() {
    if (sheet_ == nullptr || row_ < 2) return;
    worksheet_autofilter(sheet_, 0, 0, static_cast<lxw_row_t>(row_ - 1),
                         static_cast<lxw_col_t>(names_.size() - 1));
  }

  lxw_error Write(lxw_col_t column, const Cell& cell) {
    const auto row = static_cast<lxw_row_t>(row_);
    if (cell.kind == CellKind::kNone) return LXW_NO_ERROR;
    if (cell.kind != CellKind::kText && std::isfinite(cell.number)) {
      return worksheet_write_number(sheet_, row, column, cell.number,
                                    cell.kind == CellKind::kPercent ? percent_ : nullptr);
    }
    std::string text;
    AppendCell(cell, &text);
    lxw_format* format = nullptr;
    if (names_[column] == "Result" && text != "pass") {
      format = text == "warning" ? doubtful_ : bad_;
    }
    return worksheet_write_string(sheet_, row, column, CellText(text).c_str(), format);
  }

  Status Failed(lxw_error error) const {
    return IoError(std::string("cannot write the workbook: ") + lxw_strerror(error),
                   errno != 0 ? errno : EIO, path_);
  }

  const std::vector<std::string_view> names_;
  const uint64_t rows_per_sheet_;
  std::string path_;
  std::string directory_;
  lxw_workbook* book_ = nullptr;
  lxw_worksheet* sheet_ = nullptr;
  lxw_format* bold_ = nullptr;
  lxw_format* percent_ = nullptr;
  lxw_format* bad_ = nullptr;
  lxw_format* doubtful_ = nullptr;
  uint64_t sheets_ = 0;
  uint64_t row_ = 0;  ///< of the sheet, the next to write
  uint64_t rows_ = 0;
};

}  // namespace

Result<uint64_t> WriteXlsx(const TableRows& rows, const base::CancelToken* cancel,
                           base::AtomicFile* file, uint64_t rows_per_sheet) {
  Workbook book(rows, rows_per_sheet);
  MSPROBE_RETURN_IF_ERROR(book.Open(*file));
  RowCells cells(rows.comparison());
  Status status;
  for (size_t begin = 0; begin < rows.size() && status.ok(); begin += kNodesPerPart) {
    if (cancel != nullptr && cancel->cancelled()) return CancelledError();
    rows.ForEach(begin, std::min(rows.size(), begin + kNodesPerPart), [&](const TableRow& row) {
      if (status.ok()) status = book.Add(cells.Fill(row));
    });
  }
  MSPROBE_RETURN_IF_ERROR(status);
  return book.Close();
}

}  // namespace msprobe::report
