#include "visfile/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace msprobe::visfile {

namespace {

Status ErrorOf(sqlite3* database, std::string_view doing, const std::string& path) {
  const int code = database != nullptr ? sqlite3_errcode(database) : SQLITE_NOMEM;
  const std::string fact =
      std::string(doing) + ": " + (database != nullptr ? sqlite3_errmsg(database) : "no memory");
  switch (code & 0xff) {
    case SQLITE_FULL: return IoError("cannot write the file", ENOSPC, path);
    case SQLITE_NOMEM: return OutOfMemoryError("use fewer threads (-j 1) or fewer ranks", path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_AUTH:
    case SQLITE_ERROR: return CorruptError(fact, "check that this is the right file", path);
    default: {
      const int error_number = database != nullptr ? sqlite3_system_errno(database) : 0;
      return IoError(fact, error_number != 0 ? error_number : EIO, path);
    }
  }
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), path_(other.path_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(path_, other.path_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::BindText(int index, std::string_view text) {
  // A null pointer would bind NULL instead of an empty text.
  sqlite3_bind_text64(statement_, index + 1, text.data() != nullptr ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindInt(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index + 1, value);
}

void Statement::BindDouble(int index, double value) {
  sqlite3_bind_double(statement_, index + 1, value);
}

void Statement::BindNull(int index) { sqlite3_bind_null(statement_, index + 1); }

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3* database = sqlite3_db_handle(statement_);
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  Status status = ErrorOf(database, "SQLite cannot go on", *path_);
  sqlite3_reset(statement_);
  return status;
}

int Statement::columns() const { return sqlite3_column_count(statement_); }

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name != nullptr ? name : "";
}

Statement::Kind Statement::kind(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER: return Kind::kInt;
    case SQLITE_FLOAT: return Kind::kDouble;
    case SQLITE_TEXT: return Kind::kText;
    case SQLITE_BLOB: return Kind::kBlob;
    default: return Kind::kNull;
  }
}

bool Statement::read_only() const { return sqlite3_stmt_readonly(statement_) != 0; }

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::Double(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Statement::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

void Statement::Reset() { sqlite3_reset(statement_); }

Database::Database(Database&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)),
      path_(std::move(other.path_)),
      stop_(std::move(other.stop_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(path_, other.path_);
  std::swap(stop_, other.stop_);
  return *this;
}

Database::~Database() { sqlite3_close(database_); }

Result<Database> Database::Open(const std::filesystem::path& path, Mode mode,
                                const std::filesystem::path& shown) {
  Database database;
  database.path_ = std::make_unique<std::string>(shown.empty() ? path.string() : shown.string());
  const int flags = (mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  // NOFOLLOW would refuse a link anywhere in the path; only the file itself must not be one.
  std::error_code error;
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const std::filesystem::path directory = std::filesystem::canonical(parent, error);
  if (error) return IoError("cannot find the directory", error.value(), *database.path_);
  const std::filesystem::path resolved = directory / path.filename();
  if (sqlite3_open_v2(resolved.c_str(), &database.database_, flags, nullptr) != SQLITE_OK) {
    return database.Error("SQLite cannot open the file");
  }
  return database;
}

Result<Database> Database::OpenInMemory() {
  Database database;
  database.path_ = std::make_unique<std::string>("the tables in memory");
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &database.database_, kFlags, nullptr) != SQLITE_OK) {
    return database.Error("SQLite cannot start");
  }
  return database;
}

void Database::AllowReadingOnly() {
  constexpr int kLongestValue = 64 << 20;
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(
      database_,
      [](void*, int action, const char*, const char* name, const char*, const char*) {
        switch (action) {
          case SQLITE_SELECT:
          case SQLITE_READ:
          case SQLITE_RECURSIVE: return SQLITE_OK;
          case SQLITE_FUNCTION:
            return std::string_view(name) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
          default: return SQLITE_DENY;
        }
      },
      nullptr);
}

void Database::DistrustSchema() {
  constexpr uint64_t kLongestValue = 1 << 30;
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::min(StoredBytes(), kLongestValue)));
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_drop_modules(database_, nullptr);
  sqlite3_set_authorizer(
      database_,
      [](void*, int, const char*, const char*, const char*, const char* view_or_trigger) {
        return view_or_trigger != nullptr ? SQLITE_DENY : SQLITE_OK;
      },
      nullptr);
}

Status Database::CheckSchema() {
  constexpr const char* kAdvice = "make it again with msprobe graph --format db";
  // Only by their text: what else the table of the schema says of them may be a lie.
  MSPROBE_ASSIGN_OR_RETURN(
      Statement foreign,
      Prepare("SELECT 1 FROM main.sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE %'"
              " AND sql NOT LIKE 'CREATE INDEX %' AND sql NOT LIKE 'CREATE UNIQUE INDEX %'"
              " AND sql NOT LIKE 'CREATE TRIGGER %'"));
  MSPROBE_ASSIGN_OR_RETURN(const bool has_foreign, foreign.Step());
  if (has_foreign) {
    return CorruptError("the file holds views or virtual tables, as none of msprobe does", kAdvice,
                        *path_);
  }
  // One function over long texts can take hours, and cannot be given up within.
  MSPROBE_ASSIGN_OR_RETURN(
      Statement computed,
      Prepare("SELECT t.column1 FROM (VALUES ('tb_nodes'), ('tb_stack'), ('tb_config'),"
              " ('msprobe_nodes'), ('msprobe_dumps'), ('msprobe_index')) AS t,"
              " pragma_table_xinfo(t.column1) AS c WHERE c.hidden > 1"));
  MSPROBE_ASSIGN_OR_RETURN(const bool has_computed, computed.Step());
  if (!has_computed) return Status::Ok();
  return CorruptError("the table " + std::string(computed.Text(0)) + " has computed columns",
                      kAdvice, *path_);
}

uint64_t Database::StoredBytes() const {
  constexpr uint64_t kLeast = 1 << 20;
  uint64_t bytes = kLeast;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(*path_ + suffix, error);
    if (!error) bytes += size;
  }
  return bytes;
}

void Database::StopWhen(std::function<bool()> stop) {
  constexpr int kStepsBetween = 100'000;
  stop_ = std::make_unique<std::function<bool()>>(std::move(stop));
  sqlite3_progress_handler(
      database_, kStepsBetween,
      [](void* asked) { return (*static_cast<std::function<bool()>*>(asked))() ? 1 : 0; },
      stop_.get());
}

Status Database::Execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return Status::Ok();
  return Error("SQLite cannot go on");
}

Result<Statement> Database::Prepare(std::string_view sql, std::string_view* rest) {
  Statement statement;
  statement.path_ = path_.get();
  const char* tail = nullptr;
  if (sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement.statement_,
                         &tail) != SQLITE_OK) {
    return Error("SQLite does not take the query");
  }
  if (rest != nullptr) *rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  return statement;
}

Status Database::Close() {
  if (sqlite3_close(database_) != SQLITE_OK) return Error("SQLite cannot close the file");
  database_ = nullptr;
  return Status::Ok();
}

Status Database::Error(std::string_view doing) const { return ErrorOf(database_, doing, *path_); }

}  // namespace msprobe::visfile
