#include "report/csv_table.h"

#include <cmath>
#include <functional>
#include <utility>

#include "base/number_text.h"
#include "formats/json/json_writer.h"
#include "report/printable.h"
#include "report/table_columns.h"

namespace msprobe::report {

namespace {

constexpr size_t kNodesPerChunk = 512;

using Render = std::function<void(const std::vector<Cell>& cells, std::string* out)>;

struct Chunk {
  std::string text;
  uint64_t rows = 0;
};

Result<uint64_t> WriteRows(const TableRows& rows, const Render& render,
                           const base::ChunkOptions& options, base::AtomicFile* file) {
  uint64_t count = 0;
  MSPROBE_RETURN_IF_ERROR(base::OrderedChunks<Chunk>(
      rows.size(), kNodesPerChunk, options,
      [&](size_t begin, size_t end, Chunk* chunk) {
        chunk->text.clear();
        chunk->rows = 0;
        RowCells cells(rows.comparison());
        rows.ForEach(begin, end, [&](const TableRow& row) {
          render(cells.Fill(row), &chunk->text);
          ++chunk->rows;
        });
      },
      [&](const Chunk& chunk) {
        count += chunk.rows;
        return file->Append(chunk.text);
      }));
  return count;
}

void AppendCsvRow(const std::vector<Cell>& cells, std::string* out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out->push_back(',');
    if (cells[i].kind == CellKind::kText) {
      AppendCsvText(cells[i].text, out);
    } else {
      AppendCell(cells[i], out);
    }
  }
  out->push_back('\n');
}

void AppendJsonRow(const std::vector<std::string_view>& names, const std::vector<Cell>& cells,
                   std::string* out) {
  formats::JsonWriter json(out);
  json.BeginObject();
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.kind == CellKind::kNone) continue;
    json.Key(names[i]);
    if (cell.kind != CellKind::kText && std::isfinite(cell.number)) {
      json.Double(cell.number);
      continue;
    }
    std::string text;
    if (cell.kind == CellKind::kPercent) {
      base::AppendNumberText(cell.number, &text);
    } else {
      AppendCell(cell, &text);
    }
    json.String(text);
  }
  json.EndObject();
  out->push_back('\n');
}

}  // namespace

void AppendCsvText(std::string_view text, std::string* out) {
  bool quotes =
      !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
  const bool formula = quotes;
  bool control = false;
  for (const char c : text) {  // one pass: nearly all texts are plain
    const auto byte = static_cast<unsigned char>(c);
    control |= byte < 0x20 || byte == 0x7f;
    quotes |= byte == ',' || byte == '"';
  }
  if (control) return AppendCsvText(Printable(text), out);
  if (!quotes) {
    out->append(text);
    return;
  }
  out->push_back('"');
  if (formula) out->push_back('\'');
  for (const char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
  }
  out->push_back('"');
}

Result<uint64_t> WriteCsv(const TableRows& rows, const base::ChunkOptions& options,
                          base::AtomicFile* file) {
  std::string header;
  for (const std::string_view name : ColumnNames(rows.comparison().mode)) {
    header.append(header.empty() ? "" : ",").append(name);
  }
  MSPROBE_RETURN_IF_ERROR(file->Append(header + "\n"));
  return WriteRows(rows, AppendCsvRow, options, file);
}

Result<uint64_t> WriteJsonLines(const TableRows& rows, const base::ChunkOptions& options,
                                base::AtomicFile* file) {
  const std::vector<std::string_view> names = ColumnNames(rows.comparison().mode);
  const Render render = [&names](const std::vector<Cell>& cells, std::string* out) {
    AppendJsonRow(names, cells, out);
  };
  return WriteRows(rows, render, options, file);
}

}  // namespace msprobe::report
