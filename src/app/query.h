#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/unit_job.h"
#include "base/cancel.h"
#include "base/diagnostics.h"
#include "msprobe/status.h"
#include "visfile/sqlite.h"

namespace msprobe::app {

/// Bounds of one query.
struct QueryLimits {
  double seconds = 60;
  uint64_t rows = 10'000;  ///< 0: all
};

/// Told of the answer: the names of the columns once, then each row. An error stops the query.
class QueryTaker {
 public:
  virtual ~QueryTaker() = default;
  virtual void Columns(const std::vector<std::string>& names) = 0;
  virtual void Row(const visfile::Statement& row) = 0;
};

/// Tables to ask about in SQL: in memory over a dump or a comparison of two, or a `.vis.db`.
///   a dump: entries, tensors, stacks
///   a comparison: rows, nodes, culprits, diverged, not_compared; of a .vis.db rows, nodes,
///   culprits
class QueryTables {
 public:
  /// `job.target` may be a .vis.db if there is no golden side. Errors as RunUnits().
  static Result<QueryTables> Open(const UnitJob& job, const base::CancelToken* cancel,
                                  base::Diagnostics* diagnostics);

  /// What the comparison found; empty for a dump and a .vis.db.
  UnitResults& results() { return results_; }

  /// One SELECT (or WITH … SELECT). True: there are more rows than the limit.
  /// Errors: InvalidArgument (SQL), LimitExceeded (time), Cancelled.
  Result<bool> Run(std::string_view sql, const QueryLimits& limits, QueryTaker* taker);

 private:
  visfile::Database database_;
  UnitResults results_;
  std::string tables_;  ///< for messages
  const base::CancelToken* cancel_ = nullptr;
};

}  // namespace msprobe::app
