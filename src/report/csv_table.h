#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/ordered_chunks.h"
#include "report/table_rows.h"

namespace msprobe::report {

/// Writes rows as text, chunk by chunk: memory does not grow with their number. Both return the
/// number of rows. Errors: Io, Cancelled.
Result<uint64_t> WriteCsv(const TableRows& rows, const base::ChunkOptions& options,
                          base::AtomicFile* file);
/// One JSON object a line, by column name: texts and numbers (a percent is its ratio, NaN and
/// infinities are texts). What a row does not have is left out.
Result<uint64_t> WriteJsonLines(const TableRows& rows, const base::ChunkOptions& options,
                                base::AtomicFile* file);

/// A field of RFC 4180, without control characters: a row is always a line. What a spreadsheet
/// would take as a formula gets an apostrophe in front.
void AppendCsvText(std::string_view text, std::string* out);

}  // namespace msprobe::report
