#pragma once

#include "app/unit_job.h"
#include "visfile/sqlite.h"

namespace msprobe::app {

/// Fills an empty database with the tables of QueryTables.
Status FillDumpTables(const UnitJob& job, const base::CancelToken* cancel,
                      base::Diagnostics* diagnostics, visfile::Database* database);
/// Returns what else the comparison found. A unit that fails has no rows.
Result<UnitResults> FillComparisonTables(const UnitJob& job, const base::CancelToken* cancel,
                                         base::Diagnostics* diagnostics,
                                         visfile::Database* database);

}  // namespace msprobe::app
