#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/unit_job.h"
#include "report/run_report.h"

namespace msprobe::app {

enum class TableFormat : uint8_t { kCsv, kXlsx, kJson, kHtml };

/// Comma-separated words: "csv,xlsx,json,html", each once.
Result<std::vector<TableFormat>> ParseTableFormats(std::string_view text);

/// Compare two dumps tensor by tensor, and write tables.
struct CompareJob : UnitJob {
  std::filesystem::path output;      ///< directory, created if missing; empty: nothing is written
  std::vector<TableFormat> formats;  ///< kJson: the rows as one JSON object a line, besides
};

/// What the units made, and what is left to write.
struct CompareResults : UnitResults {
  std::vector<report::RowsFile> tables;  ///< csv, xlsx and jsonl, in the order of the units
  std::vector<std::string> html_rows;    ///< of each unit, if formats has kHtml
  std::string time_stamp;                ///< of the names of all files
};

/// Errors as RunUnits(). The files of one unit are there when it is done, also if another fails.
Result<CompareResults> RunCompareJob(const CompareJob& job, JobObserver* observer,
                                     const base::CancelToken* cancel,
                                     base::Diagnostics* diagnostics);

struct RunFiles {
  std::vector<std::filesystem::path> paths;  ///< written
  std::vector<Status> failures;              ///< of those that could not be
  int exit_code = 0;                         ///< as given, or of a failure
};

/// Writes the files that are about all units: html, then json, which tells the exit code.
RunFiles WriteRunFiles(const CompareJob& job, const CompareResults& results,
                       const report::RunReport& report, int exit_code);

}  // namespace msprobe::app
