#include <algorithm>
#include <utility>

#include "app/compare_job.h"
#include "app/gate.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/console_observer.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "report/printable.h"
#include "report/run_report.h"

namespace msprobe::cli {

namespace {

struct CompareRequest {
  app::CompareJob job;
  app::Gate gate;
};

Result<CompareRequest> ReadRequest(const Arguments& arguments) {
  CompareRequest request;
  std::string target;
  std::string golden;
  MSPROBE_RETURN_IF_ERROR(ReadSides(arguments, &target, &golden));
  if (target.empty() || golden.empty()) {
    return InvalidArgumentError(
        target.empty() ? "no dump is given" : "there is nothing to compare with",
        "give TARGET and GOLDEN, or -tp and -gp; see msprobe compare --help");
  }
  app::CompareJob& job = request.job;
  job.target = target;
  job.golden = golden;
  job.output = arguments.Value("--output_path");
  job.want_details = true;
  job.flat_if_none = true;
  MSPROBE_RETURN_IF_ERROR(ReadJob(arguments, "strict", &job));
  if (job.output.empty() && arguments.Has("--format")) {
    return InvalidArgumentError("--format needs a directory to write to",
                                "give -o DIR, or leave --format out");
  }
  MSPROBE_ASSIGN_OR_RETURN(job.formats, app::ParseTableFormats(arguments.Value("--format", "csv")));
  MSPROBE_RETURN_IF_ERROR(ReadGate(arguments, job, &request.gate));
  return request;
}

void LogWritten(const std::filesystem::path& path) {
  base::Log(base::LogLevel::kInfo, "written: " + report::Printable(path.string()));
}

/// What is left to do once all units are compared.
int Finish(const CompareRequest& request, app::CompareResults results, bool json) {
  report::RunReport report = report::MakeRunReport(results.units, &results.details);
  report.rows = results.tables;
  // Hours of comparing are not lost for a file: what was found is printed all the same.
  std::vector<Status> failures;
  const int judged = JudgeRun(request.gate, report, &failures);
  const app::RunFiles files = app::WriteRunFiles(request.job, results, report, judged);
  failures.insert(failures.end(), files.failures.begin(), files.failures.end());
  for (const report::RowsFile& table : report.rows) LogWritten(table.path);
  for (const std::filesystem::path& path : files.paths) LogWritten(path);
  const bool any = std::any_of(results.units.begin(), results.units.end(),
                               [](const report::UnitSummary& unit) { return unit.status.ok(); });
  const std::string text = any ? report::RunReportText(report) : std::string();
  if (json) {
    PrintError(text);
    PrintOut(report::RunReportJson(report, results.seconds, files.exit_code) + "\n");
  } else {
    PrintOut(text);
  }
  return PrintFailures(failures, files.exit_code);
}

int RunCompare(const Arguments& arguments) {
  const Result<CompareRequest> request = ReadRequest(arguments);
  if (!request.ok()) return PrintFailure(request.status());
  base::Diagnostics diagnostics;
  ConsoleObserver observer(false, arguments.Has("--progress_log"));
  Result<app::CompareResults> results =
      app::RunCompareJob(request->job, &observer, &InstallSignalHandlers(), &diagnostics);
  observer.Finish();
  PrintDiagnostics(diagnostics);
  if (!results.ok()) return PrintFailure(results.status());
  return Finish(*request, std::move(results).value(), arguments.Has("--json"));
}

std::vector<OptionSpec> OwnOptions() {
  return {
      Directory("--target_path", "DIR", "dump to look at", {"-tp"}),
      GoldenOptionSpec("dump to compare with"),
      Directory("--output_path", "DIR",
                "directory for the tables, made if missing; without it nothing is written", {"-o"}),
      Value("--format", "FORMATS",
            "tables to write (comma list): csv (default), xlsx, json (the findings as one object, "
            "the rows as .jsonl), html (one page)"),
      Flag("--json",
           "print the findings as one JSON object on standard output, all else on standard error"),
      ProgressOptionSpec(),
  };
}

std::vector<OptionSpec> Options() {
  std::vector<OptionSpec> all = OwnOptions();
  for (const std::vector<OptionSpec>& part :
       {MatchOptionSpecs({}), {JobsOptionSpec()}, GateOptionSpecs()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

extern const Command kCompareCommand;
const Command kCompareCommand = {
    "compare",
    "Compare two dumps tensor by tensor: verdict, culprits, tables.",
    "  msprobe compare TARGET GOLDEN [-o DIR] [options]\n"
    "  msprobe compare -tp DIR -gp DIR -o DIR [options]\n",
    kJobExitCodes,
    "  msprobe compare npu_dump gpu_dump -o out --format csv,html\n"
    "  msprobe compare npu_dump gpu_dump --json --fail-on culprit\n"
    "  msprobe compare npu_dump gpu_dump --allow skips.yaml --junit report.xml\n",
    {{"TARGET",
      "dump to look at: a rank, or a directory of ranks or steps",
      ValueHint::kDirectory,
      {},
      false},
     {"GOLDEN", "dump to compare with", ValueHint::kDirectory, {}, false}},
    Options(),
    RunCompare,
};

}  // namespace msprobe::cli
