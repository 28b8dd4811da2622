#include "app/compare_job.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "app/fail_on.h"
#include "app/nearest_word.h"
#include "app/output_directory.h"
#include "base/file.h"
#include "report/csv_table.h"
#include "report/html_page.h"
#include "report/xlsx_table.h"

namespace msprobe::app {

namespace {

const std::vector<std::string> kFormatWords = {"csv", "xlsx", "json", "html"};

bool Wants(const CompareJob& job, TableFormat format) {
  return std::find(job.formats.begin(), job.formats.end(), format) != job.formats.end();
}

/// Writes the tables of each unit when it is handed to it.
class TableSink final : public UnitSink {
 public:
  TableSink(const CompareJob& job, CompareResults* results) : job_(job), results_(*results) {}

  Status Start(std::span<const PlannedUnit> plan, size_t /*threads*/,
               base::Diagnostics* /*diagnostics*/) override {
    tables_.resize(plan.size());
    results_.html_rows.resize(plan.size());
    return job_.output.empty() ? Status::Ok() : directory_.Prepare(job_.output);
  }

  Status TakeGraph(const UnitTurn& /*turn*/, const graph::Graph& /*graph*/) override {
    return InternalError("a comparison without a golden side");
  }

  Status TakeComparison(const UnitTurn& turn, const compare::Comparison& comparison,
                        const compare::DivergenceReport& /*divergences*/) override {
    if (job_.output.empty()) return Status::Ok();
    const report::TableRows rows(comparison);
    if (Wants(job_, TableFormat::kHtml)) {
      results_.html_rows[turn.index] = report::HtmlRows(rows);
    }
    const base::ChunkOptions options = {turn.threads, turn.cancel};
    const auto write = [&](TableFormat format, std::string_view suffix,
                           const std::function<Result<uint64_t>(base::AtomicFile*)>& fill) {
      if (!Wants(job_, format)) return Status::Ok();
      return WriteTable(turn, suffix, fill);
    };
    MSPROBE_RETURN_IF_ERROR(write(TableFormat::kCsv, ".csv", [&](base::AtomicFile* file) {
      return report::WriteCsv(rows, options, file);
    }));
    MSPROBE_RETURN_IF_ERROR(write(TableFormat::kXlsx, ".xlsx", [&](base::AtomicFile* file) {
      return report::WriteXlsx(rows, turn.cancel, file);
    }));
    return write(TableFormat::kJson, ".jsonl", [&](base::AtomicFile* file) {
      return report::WriteJsonLines(rows, options, file);
    });
  }

  /// In the order of the units, whichever was done first.
  void Finish() {
    for (std::vector<report::RowsFile>& unit : tables_) {
      std::move(unit.begin(), unit.end(), std::back_inserter(results_.tables));
    }
  }

 private:
  Status WriteTable(const UnitTurn& turn, std::string_view suffix,
                    const std::function<Result<uint64_t>(base::AtomicFile*)>& fill) {
    std::filesystem::path path = job_.output / ("compare_result" + turn.plan.name_part + "_" +
                                                results_.time_stamp + std::string(suffix));
    uint64_t rows = 0;
    Status status = [&]() -> Status {
      MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(path));
      MSPROBE_ASSIGN_OR_RETURN(rows, fill(&file));
      MSPROBE_ASSIGN_OR_RETURN(path, file.CommitUnique(suffix));
      return Status::Ok();
    }();
    if (status.code() == StatusCode::kCancelled) return status;
    if (!status.ok()) return {status.code(), status.fact(), kOutputAdvice, path.string()};
    tables_[turn.index].push_back({turn.plan.target.step, turn.plan.rank(), rows, std::move(path)});
    return Status::Ok();
  }

  const CompareJob& job_;
  CompareResults& results_;
  OutputDirectory directory_;
  std::vector<std::vector<report::RowsFile>> tables_;  ///< by unit
};

Result<std::filesystem::path> WriteText(const CompareJob& job, const CompareResults& results,
                                        std::string_view suffix, std::string_view text) {
  MSPROBE_RETURN_IF_ERROR(base::CreateDirectories(job.output));  // gone if no unit was written
  MSPROBE_ASSIGN_OR_RETURN(
      base::AtomicFile file,
      base::AtomicFile::Create(job.output /
                               ("compare_result_" + results.time_stamp + std::string(suffix))));
  MSPROBE_RETURN_IF_ERROR(file.Append(text));
  return file.CommitUnique(suffix);
}

}  // namespace

Result<std::vector<TableFormat>> ParseTableFormats(std::string_view text) {
  std::vector<TableFormat> formats;
  while (true) {
    const size_t comma = text.find(',');
    const std::string word(text.substr(0, comma));
    const auto found = std::find(kFormatWords.begin(), kFormatWords.end(), word);
    if (found == kFormatWords.end()) {
      return InvalidArgumentError(
          "--format has no '" + word + "'",
          DidYouMean(word, kFormatWords) + "formats: " + JoinWords(kFormatWords));
    }
    const auto format = static_cast<TableFormat>(found - kFormatWords.begin());
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
      formats.push_back(format);
    }
    if (comma == std::string_view::npos) return formats;
    text.remove_prefix(comma + 1);
  }
}

Result<CompareResults> RunCompareJob(const CompareJob& job, JobObserver* observer,
                                     const base::CancelToken* cancel,
                                     base::Diagnostics* diagnostics) {
  CompareResults results;
  results.time_stamp = TimeStamp();
  TableSink sink(job, &results);
  MSPROBE_ASSIGN_OR_RETURN(static_cast<UnitResults&>(results),
                           RunUnits(job, &sink, observer, cancel, diagnostics));
  sink.Finish();
  return results;
}

RunFiles WriteRunFiles(const CompareJob& job, const CompareResults& results,
                       const report::RunReport& report, int exit_code) {
  RunFiles files;
  files.exit_code = exit_code;
  if (job.output.empty()) return files;
  const auto write = [&](std::string_view suffix, std::string_view text) {
    Result<std::filesystem::path> path = WriteText(job, results, suffix, text);
    if (path.ok()) return files.paths.push_back(std::move(path).value());
    const Status& status = path.status();
    files.failures.push_back({status.code(), status.fact(), kOutputAdvice, status.path()});
    files.exit_code = ExitCode(status);
  };
  if (Wants(job, TableFormat::kHtml)) write(".html", report::HtmlPage(report, results.html_rows));
  if (Wants(job, TableFormat::kJson)) {
    write(".json", report::RunReportJson(report, results.seconds, files.exit_code) + "\n");
  }
  return files;
}

}  // namespace msprobe::app
