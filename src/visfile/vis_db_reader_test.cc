#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "visfile/vis_fixture.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {
namespace {

using fixture::ScratchDirectory;

constexpr std::string_view kColumns =
    "step, rank, data_source, node_order, node_name, node_type, up_node, precision_index,"
    " overflow_level, micro_step_id, matched_node_link";
constexpr std::string_view kSmallTable =
    "CREATE TABLE tb_nodes (step INTEGER, rank INTEGER, data_source TEXT, node_order INTEGER,"
    " node_name TEXT, node_type TEXT, up_node TEXT, precision_index REAL, overflow_level TEXT,"
    " micro_step_id INTEGER, matched_node_link TEXT);"
    "INSERT INTO tb_nodes VALUES (0, 0, 'NPU', 1, 'M.a', '0', 'root', 0.7, '', 0, '[]'),"
    " (0, 0, 'NPU', 2, 'root', '0', 'None', NULL, '', 0, '[]');";

/// A file of a stranger: tb_config, and what `sql` makes.
std::filesystem::path Make(const ScratchDirectory& directory, std::string_view sql) {
  const auto path = directory.path() / "a.vis.db";
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::string all =
      "CREATE TABLE tb_config (graph_type TEXT, task TEXT, micro_steps INTEGER, overflow_check"
      " INTEGER); INSERT INTO tb_config VALUES ('build', 'summary', 1, 0);" +
      std::string(sql);
  EXPECT_EQ(sqlite3_exec(database, all.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return path;
}

Status OpenAndLoad(const std::filesystem::path& path, const ReadOptions& options = {}) {
  const auto file = OpenVisDb(path, options);
  MSPROBE_RETURN_IF_ERROR(Status(file.status()));
  for (size_t unit = 0; unit < (*file)->units().size(); ++unit) {
    const auto loaded = (*file)->LoadUnit(unit, options);
    MSPROBE_RETURN_IF_ERROR(Status(loaded.status()));
  }
  return Status::Ok();
}

bool IsOpen(const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) == path) return true;
  }
  return false;
}

TEST(VisDbReaderTest, AFileWithoutOurTablesIsRead) {
  const ScratchDirectory directory;
  const auto file = OpenVisDb(Make(directory, kSmallTable), {});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ((*file)->units().size(), 1U);
  const auto unit = (*file)->LoadUnit(0, {});
  ASSERT_TRUE(unit.ok()) << unit.status().ToString();
  EXPECT_EQ((*unit)->index().target.names[1], "M.a");
  EXPECT_EQ((*unit)->index().target.status[1], compare::NodeStatus::kError);
}

TEST(VisDbReaderTest, AnIndexOfOtherColumnsIsNotUsed) {
  const ScratchDirectory directory;
  const Status status = OpenAndLoad(
      Make(directory, std::string(kSmallTable) +
                          "CREATE TABLE msprobe_index (step INTEGER, rank INTEGER, side INTEGER);"
                          "INSERT INTO msprobe_index VALUES (0, 0, 0);"));
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(VisDbReaderTest, ASchemaThatRunsSomethingIsRefused) {
  const std::string columns(kColumns);
  const struct {
    std::string schema;
    std::string_view fact;
  } kSchemas[] = {
      {"CREATE VIEW tb_nodes AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
       " SELECT i AS step, i AS rank, 'NPU' AS data_source, 0 AS node_order, 'a' AS node_name,"
       " '0' AS node_type, '' AS up_node, 0 AS precision_index, '' AS overflow_level,"
       " 0 AS micro_step_id, '' AS matched_node_link FROM n;",
       "the file holds views or virtual tables, as none of msprobe does"},
      {"CREATE VIRTUAL TABLE tb_nodes USING fts4(" + columns + ");",
       "the file holds views or virtual tables, as none of msprobe does"},
      {"CREATE TABLE tb_nodes (" + columns +
           ", long AS (instr(hex(zeroblob(400000)), hex(zeroblob(200000)) || '1')));",
       "the table tb_nodes has computed columns"},
  };
  for (const auto& [schema, fact] : kSchemas) {
    const ScratchDirectory directory;
    const Status status = OpenAndLoad(Make(directory, schema));
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << schema;
    EXPECT_EQ(status.fact(), fact);
  }
}

TEST(VisDbReaderTest, ARankThatIsNoNumberIsFoundOnce) {
  const ScratchDirectory directory;
  const std::string row = "INSERT INTO tb_nodes (step, rank, data_source) VALUES (0, '{', 'NPU');";
  const Status status = OpenAndLoad(Make(directory, std::string(kSmallTable) + row));
  EXPECT_EQ(status.fact(), "a step or rank in the table tb_nodes is no whole number");
}

TEST(VisDbReaderTest, DefaultsDoNotFillTheMemory) {
  const ScratchDirectory directory;
  const std::string table =
      "CREATE TABLE tb_nodes (step INTEGER, rank INTEGER, data_source TEXT, node_order INTEGER,"
      " node_name TEXT, node_type TEXT, precision_index REAL, overflow_level TEXT,"
      " micro_step_id INTEGER, matched_node_link TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
      " INSERT INTO tb_nodes SELECT 0, 0, 'NPU', i, 'a' || i, '0', 0, '', 0, '' FROM n;"
      // Rows that are there already get it without holding it.
      "ALTER TABLE tb_nodes ADD COLUMN up_node TEXT DEFAULT '" +
      std::string(500'000, 'x') + "';";
  const Status status = OpenAndLoad(Make(directory, table));
  EXPECT_EQ(status.code(), StatusCode::kCorrupt) << status.ToString();
  EXPECT_EQ(status.fact(), "the table tb_nodes holds more text than the file has bytes");
}

TEST(VisDbReaderTest, AStatementThatTakesLongIsGivenUp) {
  const ScratchDirectory directory;
  // No index: every unit is looked for in all rows.
  const std::string rows =
      std::string(kSmallTable) +
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
      " INSERT INTO tb_nodes SELECT i, 0, 'NPU', 0, 'a', '0', 'root', 0, '', 0, '' FROM n;";
  const auto path = Make(directory, rows);
  base::CancelToken cancel;
  ReadOptions options;
  options.cancel = &cancel;
  Status status;
  std::thread reader([&] { status = OpenAndLoad(path, options); });
  while (!IsOpen(path)) std::this_thread::yield();
  cancel.Cancel();
  reader.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
}

/// What was told of the progress, each as (done, total).
using Told = std::vector<std::pair<uint64_t, uint64_t>>;

Told ToldOf(const std::filesystem::path& path) {
  Told told;
  ReadOptions options;
  options.progress = [&told](uint64_t done, uint64_t total) { told.emplace_back(done, total); };
  const Status status = OpenAndLoad(path, options);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return told;
}

TEST(VisDbReaderTest, TheProgressOfRowsHasATotalAndNeverGoesBack) {
  const ScratchDirectory directory;
  const std::string rows =
      "UPDATE tb_config SET graph_type = 'compare';"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
      " INSERT INTO tb_nodes SELECT 0, 0, s.v, i, 'M.' || i, '0', 'root', 0.1, '', 0, '[]'"
      " FROM n, (SELECT 'NPU' AS v UNION SELECT 'Bench') AS s;"
      "INSERT INTO tb_nodes VALUES (0, 0, 'Bench', 20001, 'root', '0', 'None', NULL, '', 0, '[]');";
  const Told told = ToldOf(Make(directory, std::string(kSmallTable) + rows));
  ASSERT_GE(told.size(), 8U);
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].second, 40'003U);
    EXPECT_GE(told[i].first, told[i == 0 ? 0 : i - 1].first);
  }
  EXPECT_EQ(told.back().first, told.back().second);
}

}  // namespace
}  // namespace msprobe::visfile
