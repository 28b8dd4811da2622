#pragma once

#include <cstdint>

#include "base/cancel.h"
#include "base/file.h"
#include "report/table_rows.h"

namespace msprobe::report {

/// A row of a sheet, counted with the header: Excel shows no more.
inline constexpr uint64_t kRowsPerSheet = 1'048'576;

/// Writes the rows as an .xlsx workbook, row by row: memory does not grow with their number. Rows
/// beyond `rows_per_sheet` go on on further sheets. Texts stay texts, whatever they begin with.
/// Returns the number of rows. Errors: Io, Cancelled.
Result<uint64_t> WriteXlsx(const TableRows& rows, const base::CancelToken* cancel,
                           base::AtomicFile* file, uint64_t rows_per_sheet = kRowsPerSheet);

}  // namespace msprobe::report
