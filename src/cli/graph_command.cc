#include <optional>
#include <utility>

#include "app/compare_config.h"
#include "app/fail_on.h"
#include "app/graph_job.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/console_observer.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "report/printable.h"
#include "report/run_report.h"
#include "report/summary_json.h"
#include "report/summary_table.h"

namespace msprobe::cli {

namespace {

/// What both commands ask for, beside the job itself.
struct GraphRequest {
  app::GraphJob job;
  bool tensor_lines = false;
  bool progress_lines = false;
  bool json = false;
  app::Gate gate;
};

Status ReadPaths(const Arguments& arguments, GraphRequest* request,
                 base::Diagnostics* diagnostics) {
  const bool from_file = arguments.Has("--input_path");
  std::string target;
  std::string golden;
  MSPROBE_RETURN_IF_ERROR(ReadSides(arguments, &target, &golden));
  if (from_file && !(target.empty() && golden.empty())) {
    return InvalidArgumentError("directories are given both by -i and directly",
                                "give compare.json with -i, or TARGET [GOLDEN]");
  }
  if (!from_file) {
    if (target.empty()) {
      return InvalidArgumentError(
          "no dump is given", "give TARGET [GOLDEN], or -i compare.json; see msprobe graph --help");
    }
    request->job.target = target;
    request->job.golden = golden;
    return Status::Ok();
  }
  MSPROBE_ASSIGN_OR_RETURN(const app::CompareConfig config,
                           app::ReadCompareConfig(arguments.Value("--input_path"), diagnostics));
  request->job.target = config.npu_path;
  request->job.golden = config.bench_path;
  request->tensor_lines = config.print_compare_log;
  return Status::Ok();
}

Result<GraphRequest> ReadRequest(const Arguments& arguments, bool visualize,
                                 base::Diagnostics* diagnostics) {
  GraphRequest request;
  app::GraphJob& job = request.job;
  MSPROBE_RETURN_IF_ERROR(ReadPaths(arguments, &request, diagnostics));
  MSPROBE_RETURN_IF_ERROR(ReadJob(arguments, visualize ? "loose" : "strict", &job));
  const std::string format = arguments.Value("--format", visualize ? "db" : "vis");
  job.output = arguments.Value("--output_path");
  job.format = format == "db" ? app::OutputFormat::kVisDb : app::OutputFormat::kVis;
  job.overflow_check = arguments.Has("--overflow_check");
  job.complete_stack = arguments.Has("--complete_stack");
  request.tensor_lines |= arguments.Has("--tensor_log");
  request.progress_lines = arguments.Has("--progress_log");
  request.json = arguments.Has("--json");
  MSPROBE_RETURN_IF_ERROR(ReadGate(arguments, job, &request.gate));
  job.want_details = request.gate.needs_details();
  return request;
}

int RunGraph(const Arguments& arguments, bool visualize) {
  base::Diagnostics diagnostics;
  const Result<GraphRequest> request = ReadRequest(arguments, visualize, &diagnostics);
  if (!request.ok()) {
    PrintDiagnostics(diagnostics);
    PrintStatus(request.status());
    return app::ExitCode(request.status());
  }
  ConsoleObserver observer(request->tensor_lines, request->progress_lines);
  const Result<app::GraphSummary> summary =
      app::RunGraphJob(request->job, &observer, &InstallSignalHandlers(), &diagnostics);
  observer.Finish();
  PrintDiagnostics(diagnostics);
  if (!summary.ok()) return PrintFailure(summary.status());
  if (request->job.format == app::OutputFormat::kVisDb) {
    for (const std::filesystem::path& path : summary->outputs) {
      base::Log(base::LogLevel::kInfo, "written: " + report::Printable(path.string()));
    }
  }
  std::vector<report::UnitDetails> details = summary->details;
  const report::RunReport report = report::MakeRunReport(summary->units, &details);
  std::vector<Status> failures;
  const int code = JudgeRun(request->gate, report, &failures);
  const std::string table = report::SummaryTable(summary->units);
  if (request->json) {
    PrintError(table);
    PrintOut(report::SummaryJson(summary->units, summary->seconds, code) + "\n");
  } else {
    PrintOut(table);
  }
  return PrintFailures(failures, code);
}

int RunGraphCommand(const Arguments& arguments) { return RunGraph(arguments, false); }
int RunGraphVisualizeCommand(const Arguments& arguments) { return RunGraph(arguments, true); }

const OptionSpec kOutput = Required(Directory(
    "--output_path", "DIR", "directory for the result, made if missing; required", {"-o"}));
const OptionSpec kTarget = Directory("--target_path", "DIR", "dump to look at", {"-tp"});
const OptionSpec kRequiredTarget =
    Required(Directory("--target_path", "DIR", "dump to look at; required", {"-tp"}));
const OptionSpec kGolden = GoldenOptionSpec("dump to compare with; without it one graph is built");

/// The options that both commands share, with their defaults in the text.
// NOLINTNEXTLINE(readability-function-size): a table, read from top to bottom
std::vector<OptionSpec> SharedOptions(std::vector<OptionSpec> own, const std::string& format_help,
                                      const MatchWords& words) {
  const std::vector<OptionSpec> shared = {
      Flag("--overflow_check",
           "mark where NaN, infinities or a jump of the norm appear (medium, high, critical)",
           {"-oc"}),
      Flag("--complete_stack", "keep whole call stacks instead of one line", {"-cs"}),
      Choice("--format", "FORMAT", format_help, {"vis", "db"}),
      Flag("--json",
           "print the closing summary as one JSON object on standard output, all else on standard "
           "error"),
      Flag("--tensor_log", "print the metrics of every tensor (dumps with tensor files)",
           {"-tensor_log"}),
      ProgressOptionSpec(),
  };
  for (const std::vector<OptionSpec>& part :
       {MatchOptionSpecs(words), {JobsOptionSpec()}, shared, GateOptionSpecs()}) {
    own.insert(own.end(), part.begin(), part.end());
  }
  return own;
}

}  // namespace

extern const Command kGraphCommand;
const Command kGraphCommand = {
    "graph",
    "Build the graph of a dump, or compare two dumps node by node.",
    "  msprobe graph TARGET [GOLDEN] -o DIR [options]\n"
    "  msprobe [-f pytorch|mindspore] graph -i compare.json -o DIR [options]\n",
    kJobExitCodes,
    "  msprobe graph npu_dump gpu_dump -o out\n"
    "  msprobe graph npu_dump -o out -oc                       one graph, with overflow marks\n"
    "  msprobe -f pytorch graph -i compare.json -o out -lm map.yaml\n"
    "  msprobe graph npu_dump gpu_dump -o out --json --fail-on error,culprit\n"
    "  msprobe graph megatron_dump hf_dump -o out --match auto      names and fusing differ\n",
    {{"TARGET",
      "dump to look at: a rank, or a directory of ranks or steps",
      ValueHint::kDirectory,
      {},
      false},
     {"GOLDEN",
      "dump to compare with; without it one graph is built",
      ValueHint::kDirectory,
      {},
      false}},
    SharedOptions({kOutput,
                   File("--input_path", "FILE",
                        "compare.json with npu_path, bench_path and is_print_compare_log", {"-i"}),
                   kTarget, kGolden},
                  "vis (default) writes one .vis per rank, db one .vis.db for all",
                  {.bare_mapping = false, .fuzzy_shorts = {"-f", "-fm"}}),
    RunGraphCommand,
};

extern const Command kGraphVisualizeCommand;
const Command kGraphVisualizeCommand = {
    "graph_visualize",
    "The same as graph, with the options and defaults of the newer tools: loose, .vis.db.",
    "  msprobe graph_visualize -tp DIR [-gp DIR] -o DIR [options]\n",
    kJobExitCodes,
    "  msprobe graph_visualize -tp npu_dump -gp gpu_dump -o out\n"
    "  msprobe graph_visualize -tp npu_dump -gp gpu_dump -o out -lm   class names may differ\n"
    "  msprobe graph_visualize -tp npu_dump -o out -oc\n",
    {},
    SharedOptions({kRequiredTarget, kGolden, kOutput},
                  "db (default) writes one .vis.db for all ranks, vis one .vis per rank",
                  {.loose = true}),
    RunGraphVisualizeCommand,
};

}  // namespace msprobe::cli
