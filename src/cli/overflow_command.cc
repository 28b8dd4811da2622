#include "app/overflow_job.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "report/printable.h"

namespace msprobe::cli {

namespace {

Result<app::OverflowJob> ReadJob(const Arguments& arguments) {
  app::OverflowJob job;
  job.dump = arguments.positional[0];
  MSPROBE_RETURN_IF_ERROR(ReadThreads(arguments, &job.threads));
  return job;
}

int RunOverflow(const Arguments& arguments) {
  Result<app::OverflowJob> job = ReadJob(arguments);
  if (!job.ok()) return PrintFailure(job.status());
  ProgressBar bar;
  job->progress = [&bar](double fraction) { bar.Show(fraction, ""); };
  base::Diagnostics diagnostics;
  const Result<report::OverflowReport> report =
      app::FindOverflow(*job, &InstallSignalHandlers(), &diagnostics);
  bar.Clear();
  PrintDiagnostics(diagnostics);
  if (!report.ok()) return PrintFailure(report.status());
  for (const report::OverflowReport::Failure& failure : report->failures) {
    PrintStatus(failure.status);
  }
  const int code = app::ExitCode(*report, arguments.Has("--fail-on"));
  const std::string json = report::OverflowJson(*report, code) + "\n";
  if (arguments.Has("--output_path")) {
    const Result<std::filesystem::path> path =
        app::WriteOverflowJson(arguments.Value("--output_path"), json);
    if (!path.ok()) return PrintFailure(path.status());
    base::Log(base::LogLevel::kInfo, "written: " + report::Printable(path->string()));
  }
  const std::string text = report::OverflowText(*report);
  if (arguments.Has("--json")) {
    PrintError(text);
    PrintOut(json);
  } else {
    PrintOut(text);
  }
  return code;
}

}  // namespace

extern const Command kOverflowCommand;
const Command kOverflowCommand = {
    "overflow",
    "Find the first NaN or Inf over all ranks of a dump, and how it spread.",
    "  msprobe overflow DIR [-o DIR] [--json] [--fail-on overflow]\n",
    "Whoever sends comes before who receives: ranks are put in order by their collectives and "
    "their\n"
    "sends. Steps are read in order up to the first one with an overflow.\n"
    "exit codes:\n"
    "  0 finished, found or not   1 found, with --fail-on overflow\n"
    "  2 usage or bad input, also of one rank   3 finished, but some records could not be read\n"
    "  4 failed\n",
    "  msprobe overflow npu_dump\n"
    "  msprobe overflow npu_dump/step0 --json --fail-on overflow\n",
    {{"DIR", "a dump: a rank, or a directory of ranks or steps", ValueHint::kDirectory, {}, true}},
    {Directory("--output_path", "DIR",
               "write the report as overflow_<time>.json into this directory, made if missing",
               {"-o"}),
     Value("--jobs", "N", "threads, and ranks in memory at once; default: all cores", {"-j"}),
     Choice("--fail-on", "LEVEL", "exit with 1 if one was found", {"overflow"}),
     Flag("--json",
          "print the report as one JSON object on standard output, all else on standard error")},
    RunOverflow,
};

}  // namespace msprobe::cli
