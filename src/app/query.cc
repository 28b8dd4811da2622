#include "app/query.h"

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/nearest_word.h"
#include "app/query_tables.h"

namespace msprobe::app {

namespace {

using Clock = std::chrono::steady_clock;

/// What our .vis.db files hold: a row a side, where the tables of two dumps have one a pair.
constexpr const char* kVisDbViews = R"sql(
CREATE TEMP VIEW nodes AS
  SELECT t.step, t.rank, t.data_source AS side, t.node_order, t.node_name AS name,
         t.up_node AS parent, m.status, m.idx, m.worst_below, m.role, m.reason
  FROM main.tb_nodes t LEFT JOIN main.msprobe_nodes m ON m.rowid = t.rowid;
CREATE TEMP VIEW culprits AS
  SELECT step, rank, name, idx, reason FROM nodes WHERE role = 'culprit'
  ORDER BY step, rank, node_order;
CREATE TEMP VIEW rows AS
  SELECT t.step, t.rank, t.data_source AS side, t.node_name AS node, j.key AS name,
         json_extract(j.value, '$.dtype') AS dtype, json_extract(j.value, '$.shape') AS shape,
         json_extract(j.value, '$.Result') AS result,
         json_extract(j.value, '$.Err_message') AS reason, j.value AS data
  FROM main.tb_nodes t, json_each(CASE t.input_data WHEN '' THEN '{}' ELSE t.input_data END) j
  UNION ALL
  SELECT t.step, t.rank, t.data_source, t.node_name, j.key,
         json_extract(j.value, '$.dtype'), json_extract(j.value, '$.shape'),
         json_extract(j.value, '$.Result'), json_extract(j.value, '$.Err_message'), j.value
  FROM main.tb_nodes t, json_each(CASE t.output_data WHEN '' THEN '{}' ELSE t.output_data END) j;
)sql";

/// Without a '.' in front: "no such column: t.ulp" names ulp.
std::string UnknownColumn(const std::string& fact) {
  constexpr std::string_view kWords = "no such column: ";
  const size_t begin = fact.find(kWords);
  if (begin == std::string::npos) return {};
  const std::string name = fact.substr(begin + kWords.size());
  return name.substr(name.rfind('.') + 1);
}

std::vector<std::string> ColumnsOf(std::string_view table, visfile::Database* database) {
  std::vector<std::string> names;
  const auto all = database->Prepare("SELECT * FROM " + std::string(table));
  for (int i = 0; all.ok() && i < all->columns(); ++i) names.emplace_back(all->column_name(i));
  return names;
}

/// What the tables that the query names do have; empty where it is not about a column.
std::string ColumnAdvice(const std::string& fact, std::string_view sql,
                         visfile::Database* database) {
  const std::string unknown = UnknownColumn(fact);
  if (unknown.empty()) return {};
  std::string advice;
  for (const std::string_view table :
       {"entries", "tensors", "stacks", "rows", "nodes", "culprits", "diverged", "not_compared"}) {
    if (sql.find(table) == std::string_view::npos) continue;
    const std::vector<std::string> columns = ColumnsOf(table, database);
    if (columns.empty()) continue;
    advice += advice.empty() ? DidYouMean(unknown, columns) : "; ";
    advice += "columns of " + std::string(table) + ": " + JoinWords(columns);
  }
  return advice;
}

bool IsBlank(std::string_view sql) {
  return sql.find_first_not_of(" \t\r\n;") == std::string_view::npos;
}

}  // namespace

Result<QueryTables> QueryTables::Open(const UnitJob& job, const base::CancelToken* cancel,
                                      base::Diagnostics* diagnostics) {
  QueryTables tables;
  tables.cancel_ = cancel;
  std::error_code error;
  if (std::filesystem::is_regular_file(job.target, error)) {
    if (!job.target.string().ends_with(".vis.db") || !job.golden.empty()) {
      return InvalidArgumentError("only a .vis.db can be asked, and it alone",
                                  "give a dump, two dumps, or a .vis.db", job.target.string());
    }
    MSPROBE_ASSIGN_OR_RETURN(tables.database_,
                             visfile::Database::Open(job.target, visfile::Database::Mode::kRead));
    MSPROBE_RETURN_IF_ERROR(tables.database_.CheckSchema());
    // Views are made even of tables that are not there.
    MSPROBE_RETURN_IF_ERROR(tables.database_.Prepare("SELECT 1 FROM main.tb_nodes").status());
    MSPROBE_RETURN_IF_ERROR(tables.database_.Execute(kVisDbViews));
    tables.tables_ = "rows, nodes, culprits, and those of docs/vis-format.md";
  } else {
    MSPROBE_ASSIGN_OR_RETURN(tables.database_, visfile::Database::OpenInMemory());
    if (job.golden.empty()) {
      MSPROBE_RETURN_IF_ERROR(FillDumpTables(job, cancel, diagnostics, &tables.database_));
      tables.tables_ = "entries, tensors, stacks";
    } else {
      MSPROBE_ASSIGN_OR_RETURN(tables.results_,
                               FillComparisonTables(job, cancel, diagnostics, &tables.database_));
      tables.tables_ = "rows, nodes, culprits, diverged, not_compared";
    }
  }
  tables.database_.AllowReadingOnly();
  return tables;
}

Result<bool> QueryTables::Run(std::string_view sql, const QueryLimits& limits, QueryTaker* taker) {
  std::string_view rest;
  Result<visfile::Statement> statement = database_.Prepare(sql, &rest);
  if (!statement.ok()) {
    const std::string& fact = statement.status().fact();
    std::string advice = ColumnAdvice(fact, sql, &database_);
    return InvalidArgumentError(fact, advice.empty() ? "tables: " + tables_ : std::move(advice));
  }
  if (statement->empty() || !IsBlank(rest) || !statement->read_only()) {
    return InvalidArgumentError("the query is not one SELECT", "tables: " + tables_);
  }
  const Clock::time_point start = Clock::now();
  const auto late = std::make_shared<bool>(false);  // outlives this call: SQLite keeps the asker
  const base::CancelToken* cancel = cancel_;
  database_.StopWhen([start, late, seconds = limits.seconds, cancel] {
    *late = std::chrono::duration<double>(Clock::now() - start).count() > seconds;
    return *late || (cancel != nullptr && cancel->cancelled());
  });
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(statement->columns()));
  for (int i = 0; i < statement->columns(); ++i) names.emplace_back(statement->column_name(i));
  taker->Columns(names);
  for (uint64_t row = 0;; ++row) {
    const Result<bool> more = statement->Step();
    if (!more.ok()) {
      if (*late) {
        return LimitExceededError("the query takes too long", "ask for less, or give it more time");
      }
      if (cancel != nullptr && cancel->cancelled()) return CancelledError();
      return InvalidArgumentError(more.status().fact(), "tables: " + tables_);
    }
    if (!*more) return false;
    if (limits.rows > 0 && row == limits.rows) return true;
    taker->Row(*statement);
  }
}

}  // namespace msprobe::app
