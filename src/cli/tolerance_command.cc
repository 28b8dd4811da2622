#include <cstdio>
#include <optional>

#include "app/fail_on.h"
#include "app/tolerance_job.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "report/printable.h"

namespace msprobe::cli {

namespace {

Result<app::ToleranceJob> ReadRequest(const Arguments& arguments) {
  app::ToleranceJob job;
  job.target = arguments.positional[0];
  job.golden = arguments.positional[1];
  job.output = arguments.Value("--output_path");
  MSPROBE_RETURN_IF_ERROR(ReadJob(arguments, "loose", &job));
  if (arguments.Has("--margin")) {
    const std::string text = arguments.Value("--margin");
    const std::optional<double> margin = base::ParseDouble(text);
    if (!margin || !(*margin >= 1 && *margin <= 1e6)) {
      return InvalidArgumentError("--margin cannot be '" + text + "'",
                                  "give a number from 1 to 1000000");
    }
    job.margin = *margin;
  }
  return job;
}

int RunTolerance(const Arguments& arguments) {
  const Result<app::ToleranceJob> job = ReadRequest(arguments);
  if (!job.ok()) {
    PrintStatus(job.status());
    return app::ExitCode(job.status());
  }
  base::Diagnostics diagnostics;
  const Result<app::ToleranceSummary> summary =
      app::LearnTolerances(*job, nullptr, &InstallSignalHandlers(), &diagnostics);
  PrintDiagnostics(diagnostics);
  if (!summary.ok()) return PrintFailure(summary.status());
  PrintOut("written: " + report::Printable(job->output.string()) + ", " +
           std::to_string(summary->rules) + " rules\n");
  return app::ExitCode(summary->results.units, {}, nullptr);
}

std::vector<OptionSpec> Options() {
  std::vector<OptionSpec> all = {
      Required(File("--output_path", "FILE", "yaml to write; required, and not there yet", {"-o"})),
      Value("--margin", "X", "bounds are X times the largest error seen; default 2"),
  };
  const std::vector<OptionSpec> pair = PairOptionSpecs({.loose = true});
  all.insert(all.end(), pair.begin(), pair.end());
  all.push_back(JobsOptionSpec());
  return all;
}

}  // namespace

extern const Command kToleranceCommand;
const Command kToleranceCommand = {
    "tolerance",
    "Learn from two good runs which differences are rounding.",
    "  msprobe tolerance GOOD1 GOOD2 -o profile.yaml [options]\n",
    "Give the file to graph or compare with --tolerance. Each rule is the largest error seen at "
    "that\n"
    "place in any step or rank, times the margin, and never below a few roundings of the dtype.\n"
    "With a mapping or --match auto the rules have the names of GOOD1.\n"
    "exit codes:\n"
    "  0 fine   2 usage or bad input\n"
    "  3 written, but some tensors or records could not be read   4 failed\n",
    "  msprobe tolerance run1 run2 -o tolerance.yaml\n"
    "  msprobe graph npu_dump gpu_dump -o out --tolerance tolerance.yaml\n",
    {{"GOOD1", "dump of a run that is right", ValueHint::kDirectory, {}, true},
     {"GOOD2", "dump of another one", ValueHint::kDirectory, {}, true}},
    Options(),
    RunTolerance,
};

}  // namespace msprobe::cli
