#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "msprobe/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace msprobe::visfile {

/// A prepared statement. Bound text is not copied: it must stay valid until the next Step().
class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  /// Parameters and columns count from 0. A parameter that is not bound again keeps its value.
  void BindText(int index, std::string_view text);
  void BindInt(int index, int64_t value);
  void BindDouble(int index, double value);
  void BindNull(int index);

  /// One row to read: true; no (more) rows: false. After false the statement can run again.
  Result<bool> Step();

  int columns() const;
  std::string_view column_name(int column) const;
  enum class Kind { kNull, kInt, kDouble, kText, kBlob };
  Kind kind(int column) const;
  bool read_only() const;
  bool empty() const { return statement_ == nullptr; }  ///< only blanks and comments
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  double Double(int column) const;
  std::string_view Text(int column) const;  ///< valid until the next Step()
  std::string_view Blob(int column) const;  ///< valid until the next Step()
  void Reset();

 private:
  friend class Database;
  sqlite3_stmt* statement_ = nullptr;
  const std::string* path_ = nullptr;
};

/// A SQLite file. Not thread-safe: one thread at a time. Statements must be gone before it is.
class Database {
 public:
  enum class Mode { kRead, kWrite };

  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  /// kWrite expects the file to exist (an empty one is fine). Errors name `shown`, if not empty.
  static Result<Database> Open(const std::filesystem::path& path, Mode mode,
                               const std::filesystem::path& shown = {});

  /// In memory, gone with this object.
  static Result<Database> OpenInMemory();

  /// From now on statements may only read: no writing, no PRAGMA, no ATTACH, no other file.
  void AllowReadingOnly();
  /// For files of strangers: nothing of their schema is run (views, triggers, virtual tables), and
  /// no value is longer than StoredBytes().
  void DistrustSchema();

  /// Refuses what would run something when it is read: views, virtual tables, computed columns of
  /// the tables of docs/vis-format.md. Triggers may stand there: nothing is written. Errors:
  /// Corrupt.
  Status CheckSchema();
  /// Of the file and its journal: no honest file holds more.
  uint64_t StoredBytes() const;
  /// Statements give up when `stop` says so; it is asked every few milliseconds.
  void StopWhen(std::function<bool()> stop);

  Status Execute(const char* sql);
  /// `rest`, if given, gets what stands behind the first statement.
  Result<Statement> Prepare(std::string_view sql, std::string_view* rest = nullptr);
  /// Reports what only shows when the file is closed.
  Status Close();

 private:
  Status Error(std::string_view doing) const;

  sqlite3* database_ = nullptr;
  std::unique_ptr<std::string> path_;  ///< keeps its address when the Database moves
  std::unique_ptr<std::function<bool()>> stop_;
};

}  // namespace msprobe::visfile
