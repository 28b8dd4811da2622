// The input is B and the bytes of a database; or else rows of tb_nodes, a line each, with tabs
// between the columns: these get past SQLite's own checks.

#include <sqlite3.h>

#include "vis_use.h"

namespace {

using namespace msprobe;

constexpr const char* kTables = R"sql(
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;
CREATE TABLE tb_config (graph_type TEXT, task TEXT, micro_steps INTEGER, overflow_check INTEGER);
CREATE TABLE tb_stack (id TEXT PRIMARY KEY, stack_info TEXT);
CREATE TABLE msprobe_nodes (id TEXT, idx REAL, status TEXT, reason TEXT, role TEXT);
CREATE TABLE tb_nodes (
  id TEXT, step INTEGER, rank INTEGER, data_source TEXT, node_order INTEGER, node_name TEXT,
  node_type TEXT, up_node TEXT, precision_index INTEGER, overflow_level TEXT,
  micro_step_id INTEGER, matched_node_link TEXT, input_data TEXT, output_data TEXT,
  matched_distributed TEXT, stack_id TEXT);
)sql";

std::string_view Take(std::string_view* text, char end) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(std::min(at + 1, text->size()));
  return taken;
}

/// Inserts a row; an empty field is NULL.
template <size_t kColumns>
void Insert(sqlite3* database, const char* sql, std::string_view* line) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) std::abort();
  for (size_t column = 0; column < kColumns; ++column) {
    const std::string_view field = Take(line, '\t');
    if (field.empty()) continue;
    sqlite3_bind_text(statement, static_cast<int>(column + 1), field.data(),
                      static_cast<int>(field.size()), SQLITE_TRANSIENT);
  }
  sqlite3_step(statement);
  sqlite3_finalize(statement);
}

void WriteRows(std::string_view text, const std::filesystem::path& path) {
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) std::abort();
  if (sqlite3_exec(database, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
  std::string_view config = Take(&text, '\n');
  Insert<4>(database, "INSERT INTO tb_config VALUES (?,?,?,?)", &config);
  while (!text.empty()) {
    std::string_view line = Take(&text, '\n');
    Insert<16>(database, "INSERT INTO tb_nodes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &line);
    Insert<2>(database, "INSERT OR IGNORE INTO tb_stack VALUES (?,?)", &line);
    if (!line.empty()) Insert<5>(database, "INSERT INTO msprobe_nodes VALUES (?,?,?,?,?)", &line);
  }
  sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto& path = fuzz::ScratchFile("a.vis.db");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('B'))
    fuzz::WriteFile(path, text.substr(1));
  else
    WriteRows(text, path);
  fuzz::ShowFile(visfile::OpenVisDb(path, {}));
  return 0;
}
