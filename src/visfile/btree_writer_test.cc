#include "visfile/btree_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include "visfile/record_text.h"
#include "visfile/sqlite.h"
#include "visfile/vis_fixture.h"

namespace msprobe::visfile {
namespace {

using Kind = BTreeWriter::Kind;

/// A file with a table (a INTEGER, b TEXT) and an index over b, filled without SQLite.
class FilledFile {
 public:
  FilledFile() : path_(directory_.path() / "a.db") {
    std::ofstream{path_};
    Database database = Open(Database::Mode::kWrite);
    EXPECT_TRUE(database
                    .Execute("PRAGMA page_size=65536; CREATE TABLE t (a INTEGER, b TEXT);"
                             "CREATE INDEX i ON t (b);")
                    .ok());
    EXPECT_TRUE(database.Close().ok());
  }

  Database Open(Database::Mode mode) {
    auto database = Database::Open(path_, mode);
    EXPECT_TRUE(database.ok());
    return std::move(database).value();
  }

  /// `rows` by row id; the index gets what SQLite would put into it.
  void Fill(const std::map<int64_t, std::string>& rows) {
    auto file = PageFile::Open(path_, path_);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    BTreeWriter table(&*file, Kind::kTable, 2);
    BTreeWriter index(&*file, Kind::kIndex, 3);
    std::set<std::pair<std::string, int64_t>> sorted;
    for (const auto& [row_id, text] : rows) {
      ASSERT_TRUE(table
                      .AddRow(row_id, Record([&](RecordText& record) {
                                record.Int(-row_id);
                                record.Text(text);
                              }))
                      .ok());
      sorted.emplace(text, row_id);
    }
    ASSERT_TRUE(table.Finish().ok());
    for (const auto& [text, row_id] : sorted) {
      ASSERT_TRUE(index
                      .AddEntry(Record([&](RecordText& record) {
                        record.Text(text);
                        record.Int(row_id);
                      }))
                      .ok());
    }
    ASSERT_TRUE(index.Finish().ok());
    ASSERT_TRUE(file->Finish().ok());
  }

  std::string Ask(std::string_view query) {
    Database database = Open(Database::Mode::kRead);
    auto statement = database.Prepare(query);
    EXPECT_TRUE(statement.ok()) << statement.status().ToString();
    std::string answer;
    for (auto more = statement->Step(); more.ok() && *more; more = statement->Step()) {
      answer.append(answer.empty() ? "" : "\n").append(statement->Text(0));
    }
    return answer;
  }

 private:
  template <class Fill>
  std::vector<std::string_view> Record(const Fill& fill) {
    types_.clear();
    values_.clear();
    header_.clear();
    RecordText record(&types_, &values_);
    fill(record);
    AppendRecordHeader(types_.size(), &header_);
    return {header_, types_, values_};
  }

  fixture::ScratchDirectory directory_;
  std::filesystem::path path_;
  std::string types_, values_, header_;
};

/// SQLite checks every page, and that index and table agree; and it finds every row.
void ExpectSound(const std::map<int64_t, std::string>& rows) {
  FilledFile file;
  file.Fill(rows);
  EXPECT_EQ(file.Ask("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(file.Ask("SELECT count(*) FROM t"), std::to_string(rows.size()));
  Database database = file.Open(Database::Mode::kRead);
  auto by_id = database.Prepare("SELECT a, b FROM t WHERE rowid = ?");
  auto by_text = database.Prepare("SELECT rowid FROM t INDEXED BY i WHERE b = ? AND rowid = ?");
  ASSERT_TRUE(by_id.ok() && by_text.ok());
  for (const auto& [row_id, text] : rows) {
    by_id->BindInt(0, row_id);
    ASSERT_TRUE(*by_id->Step()) << row_id;
    EXPECT_EQ(by_id->Int(0), -row_id);
    EXPECT_TRUE(by_id->Text(1) == text) << row_id;
    by_id->Reset();
    by_text->BindText(0, text);
    by_text->BindInt(1, row_id);
    EXPECT_TRUE(*by_text->Step()) << row_id;
    by_text->Reset();
  }
}

TEST(BTreeWriter, RowIdsOfEverySizeAreFound) {
  std::map<int64_t, std::string> rows = {{-1, "-1"}, {INT64_MIN + 1, "least"}};
  // Each byte of SQLite's integers more, on both sides: 7 bits each, and all 8 of the ninth.
  for (int bits = 7; bits <= 56; bits += 7) {
    const int64_t first = int64_t{1} << bits;
    rows[first - 1] = std::to_string(first - 1);
    rows[first] = std::to_string(first);
  }
  rows[INT64_MAX] = "largest";
  ExpectSound(rows);
}

TEST(BTreeWriter, AnEmptyTreeIsItsRoot) { ExpectSound({}); }

TEST(BTreeWriter, FewRowsStandInTheRoot) {
  ExpectSound({{1, "b"}, {2, ""}, {7, "a"}, {int64_t{1} << 40, std::string("nul\0", 4)}});
}

TEST(BTreeWriter, RecordsOfAllSizesAreRead) {
  std::map<int64_t, std::string> rows;
  std::mt19937 random(5);
  // Around the largest that stand in a cell of an index and of a table, and around full pages.
  for (const int64_t size : {0, 57, 58, 120, 121, 16421, 16422, 16423, 65500, 65501, 65502, 65532,
                             65533, 131'072, 200'000, 1'000'000}) {
    for (int64_t near = -12; near <= 12; near += 3) {
      std::string text(static_cast<size_t>(std::max<int64_t>(0, size + near)), 'x');
      for (char& c : text) c = static_cast<char>('a' + random() % 26);
      rows.emplace(static_cast<int64_t>(rows.size()) * 3, std::move(text));
    }
  }
  ExpectSound(rows);
}

TEST(BTreeWriter, TreesOfEveryHeightAreSound) {
  // Long keys make deep trees of few rows: a page holds three of them.
  for (size_t count = 1; count < 60; ++count) {
    std::map<int64_t, std::string> rows;
    for (size_t i = 0; i < count; ++i) {
      rows.emplace(i, std::to_string(1000 + i * 7919 % 1000) + std::string(16'000, 'k'));
    }
    FilledFile file;
    file.Fill(rows);
    ASSERT_EQ(file.Ask("PRAGMA integrity_check"), "ok") << count;
    ASSERT_EQ(file.Ask("SELECT count(*) FROM t INDEXED BY i WHERE b > ''"), std::to_string(count));
  }
}

TEST(BTreeWriter, ManyShortRowsMakeSeveralLevels) {
  std::map<int64_t, std::string> rows;
  for (int64_t i = 0; i < 60'000; ++i) {
    rows.emplace(i * i, "row " + std::to_string(i * 7919 % 60'000) + std::string(40, '.'));
  }
  ExpectSound(rows);
}

TEST(BTreeWriter, SqliteGoesOnWithTheFile) {
  FilledFile file;
  file.Fill({{1, "a"}, {2, std::string(100'000, 'b')}});
  {
    Database database = file.Open(Database::Mode::kWrite);
    ASSERT_TRUE(
        database.Execute("DELETE FROM t WHERE rowid = 2; INSERT INTO t VALUES (5, 'c')").ok());
    ASSERT_TRUE(database.Close().ok());
  }
  EXPECT_EQ(file.Ask("SELECT b FROM t ORDER BY b"), "a\nc");
  EXPECT_EQ(file.Ask("PRAGMA integrity_check"), "ok");
}

TEST(PageFile, SkipsThePageThatSqliteLocks) {
  const fixture::ScratchDirectory directory;
  const std::filesystem::path path = directory.path() / "a.db";
  std::ofstream{path};
  std::filesystem::resize_file(path, uint64_t{1} << 30);  // of which the disk stores nothing
  auto file = PageFile::Open(path, path);
  ASSERT_TRUE(file.ok());
  const std::string page(PageFile::kPageSize, 'x');
  EXPECT_EQ(*file->Append(page.data()), 16'386U);
  EXPECT_EQ(*file->Append(page.data()), 16'387U);
}

TEST(RecordText, NumbersOfAllWidthsAreRead) {
  FilledFile file;
  std::map<int64_t, std::string> rows;
  for (int bits = 0; bits < 63; ++bits) {
    for (const int64_t near : {-1, 0, 1}) rows[(int64_t{1} << bits) + near] = "x";
  }
  ExpectSound(rows);
}

}  // namespace
}  // namespace msprobe::visfile
