#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/fail_on.h"
#include "app/query.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "formats/json/json_string.h"
#include "formats/json/json_writer.h"
#include "report/csv_table.h"
#include "report/printable.h"

namespace msprobe::cli {

namespace {

using visfile::Statement;

std::string CellText(const Statement& row, int column) {
  std::string text;
  switch (row.kind(column)) {
    case Statement::Kind::kNull: break;
    case Statement::Kind::kInt: return std::to_string(row.Int(column));
    case Statement::Kind::kDouble: base::AppendNumberText(row.Double(column), &text); break;
    case Statement::Kind::kText: return formats::RepairedUtf8(row.Text(column));
    case Statement::Kind::kBlob: return std::to_string(row.Blob(column).size()) + " bytes";
  }
  return text;
}

/// Columns of their own width, as wide as the first rows need.
class TextTaker final : public app::QueryTaker {
 public:
  void Columns(const std::vector<std::string>& names) override { rows_.push_back(names); }
  void Row(const Statement& row) override {
    std::vector<std::string> cells;
    cells.reserve(static_cast<size_t>(row.columns()));
    for (int i = 0; i < row.columns(); ++i) {
      cells.push_back(report::PrintableName(CellText(row, i)));
    }
    rows_.push_back(std::move(cells));
    if (rows_.size() == kRowsKept) Flush();
  }
  void Flush() {
    if (widths_.empty()) {
      for (const std::vector<std::string>& row : rows_) {
        widths_.resize(row.size());
        for (size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], row[i].size());
      }
    }
    std::string out;
    for (const std::vector<std::string>& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        out += row[i];
        if (i + 1 == row.size()) break;
        out.append(2 + widths_[i] - std::min(widths_[i], row[i].size()), ' ');
      }
      out += '\n';
    }
    PrintOut(out);
    rows_.clear();
  }

 private:
  static constexpr size_t kRowsKept = 1000;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

class CsvTaker final : public app::QueryTaker {
 public:
  void Columns(const std::vector<std::string>& names) override {
    std::string line;
    for (const std::string& name : names) {
      if (!line.empty()) line += ',';
      report::AppendCsvText(name, &line);
    }
    PrintOut(line + "\n");
  }
  void Row(const Statement& row) override {
    std::string line;
    for (int i = 0; i < row.columns(); ++i) {
      if (i > 0) line += ',';
      if (row.kind(i) == Statement::Kind::kText) {
        report::AppendCsvText(CellText(row, i), &line);
      } else {
        line += CellText(row, i);
      }
    }
    PrintOut(line + "\n");
  }
};

class JsonTaker final : public app::QueryTaker {
 public:
  void Columns(const std::vector<std::string>& names) override {
    json_.BeginObject().Key("columns").BeginArray();
    for (const std::string& name : names) json_.String(name);
    json_.EndArray().Key("rows").BeginArray();
  }
  void Row(const Statement& row) override {
    json_.BeginArray();
    for (int i = 0; i < row.columns(); ++i) {
      const Statement::Kind kind = row.kind(i);
      if (kind == Statement::Kind::kNull) {
        json_.Null();
      } else if (kind == Statement::Kind::kInt) {
        json_.Int(row.Int(i));
      } else if (kind == Statement::Kind::kDouble && std::isfinite(row.Double(i))) {
        json_.Double(row.Double(i));
      } else {
        json_.String(CellText(row, i));
      }
    }
    json_.EndArray();
    if (out_.size() > kFlushSize) Flush();
  }
  void Finish(bool more) {
    json_.EndArray().Key("more").Bool(more).EndObject();
    out_ += '\n';
    Flush();
  }

 private:
  static constexpr size_t kFlushSize = 1 << 16;
  void Flush() {
    PrintOut(out_);
    out_.clear();
  }
  std::string out_;
  formats::JsonWriter json_{&out_};
};

Result<app::QueryLimits> ReadLimits(const Arguments& arguments) {
  app::QueryLimits limits;
  if (arguments.Has("--limit")) {
    const std::optional<uint64_t> rows = base::ParseUnsigned(arguments.Value("--limit"));
    if (!rows) return InvalidArgumentError("--limit is no number", "give a number of rows, 0: all");
    limits.rows = *rows;
  }
  if (arguments.Has("--timeout")) {
    const std::optional<double> seconds = base::ParseDouble(arguments.Value("--timeout"));
    if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds)) {
      return InvalidArgumentError("--timeout is no number of seconds", "give a number above 0");
    }
    limits.seconds = *seconds;
  }
  return limits;
}

Result<bool> Answer(const Arguments& arguments, const app::QueryLimits& limits,
                    app::QueryTables* tables) {
  const std::string& sql = arguments.positional[1];
  if (arguments.Has("--json")) {
    JsonTaker taker;
    MSPROBE_ASSIGN_OR_RETURN(const bool more, tables->Run(sql, limits, &taker));
    taker.Finish(more);
    return more;
  }
  if (arguments.Has("--csv")) {
    CsvTaker taker;
    return tables->Run(sql, limits, &taker);
  }
  TextTaker taker;
  Result<bool> more = tables->Run(sql, limits, &taker);
  if (more.ok()) taker.Flush();
  return more;
}

int RunQuery(const Arguments& arguments) {
  app::UnitJob job;
  job.target = arguments.positional[0];
  job.golden = arguments.Value("--golden");
  job.flat_if_none = true;
  const Status read = ReadJob(arguments, "strict", &job);
  if (!read.ok()) return PrintFailure(read);
  const Result<app::QueryLimits> limits = ReadLimits(arguments);
  if (!limits.ok()) return PrintFailure(limits.status());
  if (arguments.Has("--json") && arguments.Has("--csv")) {
    return PrintFailure(InvalidArgumentError("--json and --csv are given", "give one of them"));
  }
  base::Diagnostics diagnostics;
  Result<app::QueryTables> tables =
      app::QueryTables::Open(job, &InstallSignalHandlers(), &diagnostics);
  PrintDiagnostics(diagnostics);
  if (!tables.ok()) return PrintFailure(tables.status());
  for (const report::UnitSummary& unit : tables->results().units) {
    if (!unit.status.ok()) return PrintFailure(unit.status);
  }
  const Result<bool> more = Answer(arguments, *limits, &*tables);
  if (!more.ok()) return PrintFailure(more.status());
  if (*more) base::Log(base::LogLevel::kWarning, "there are more rows; --limit 0 prints them all");
  const bool damaged = diagnostics.count(base::DiagnosticKind::kUnreadableRecord) > 0;
  return damaged ? 3 : app::ExitCode(tables->results().units, {}, nullptr);
}

std::vector<OptionSpec> Options() {
  std::vector<OptionSpec> all = {
      GoldenOptionSpec("compare with this dump, and ask about the comparison"),
      Flag("--json", "print the answer as one JSON object"),
      Flag("--csv", "print the answer as csv"),
      Value("--limit", "N", "rows to print at most (default 10000; 0: all)"),
      Value("--timeout", "SECONDS", "time that the query may take (default 60)"),
  };
  const std::vector<OptionSpec> match = MatchOptionSpecs({.prefix = "with --golden: "});
  all.insert(all.end(), match.begin(), match.end());
  all.push_back(JobsOptionSpec());
  return all;
}

}  // namespace

extern const Command kQueryCommand;
const Command kQueryCommand = {
    "query",
    "Ask about a dump or a comparison in SQL.",
    "  msprobe query PATH SQL [--golden DIR] [--json|--csv]\n",
    "One SELECT; nothing can be changed. Tables:\n"
    "  of a dump          entries, tensors, stacks\n"
    "  with --golden      rows, nodes, culprits, diverged, not_compared\n"
    "  of a .vis.db       rows, nodes, culprits, and those that the file has\n"
    "exit codes:\n"
    "  0 fine   2 usage, bad SQL or bad input\n"
    "  3 answered, but some tensors or records could not be read   4 failed\n",
    "  msprobe query npu_dump \"select name, dtype, norm from tensors order by norm desc limit "
    "5\"\n"
    "  msprobe query npu_dump \"select * from culprits\" --golden gpu_dump\n",
    {{"PATH", "a dump, or a .vis.db", ValueHint::kFile, {}, true},
     {"SQL", "the query", ValueHint::kNone, {}, true}},
    Options(),
    RunQuery,
};

}  // namespace msprobe::cli
