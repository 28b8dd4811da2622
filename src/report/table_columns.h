#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "report/table_rows.h"

namespace msprobe::report {

enum class CellKind : uint8_t { kNone, kText, kNumber, kPercent };

struct Cell {
  CellKind kind = CellKind::kNone;
  std::string_view text;  ///< kText; kNumber: as dump.json has it, may be empty
  double number = std::numeric_limits<double>::quiet_NaN();  ///< kPercent: 1 is 100%
};

/// The header of the table: the same for every file format.
std::vector<std::string_view> ColumnNames(compare::CompareMode mode);

/// The cells of rows, one for each column. Views live until the next Fill() or row.
class RowCells {
 public:
  explicit RowCells(const compare::Comparison& comparison) : comparison_(comparison) {}

  const std::vector<Cell>& Fill(const TableRow& row);

 private:
  void Name(std::string_view node, const dump::Value* value, std::string* storage);
  void Text(std::string_view text);
  void Number(double number, std::string_view text = {});
  void Statistics(const dump::Value* value);
  void Metrics(const compare::ValueResult* result);
  void Ulps(const compare::ValueResult* result);

  const compare::Comparison& comparison_;
  std::vector<Cell> cells_;
  std::string target_name_;
  std::string golden_name_;
  std::string ulps_;
};

/// The cell as text: numbers as Python shows them, percents as "12.317624%".
void AppendCell(const Cell& cell, std::string* out);

}  // namespace msprobe::report
