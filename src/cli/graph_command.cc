#include <mutex>
#include <optional>

#include "app/compare_config.h"
#include "app/fail_on.h"
#include "app/graph_job.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "report/printable.h"
#include "report/summary_json.h"
#include "report/summary_table.h"
#include "report/tensor_lines.h"

namespace msprobe::cli {

namespace {

/// What both commands ask for, beside the job itself.
struct GraphRequest {
  app::GraphJob job;
  bool tensor_lines = false;
  bool progress_lines = false;
  bool json = false;
  std::vector<app::FailLevel> fail_on;
};

class ConsoleObserver final : public app::JobObserver {
 public:
  explicit ConsoleObserver(const GraphRequest& request) : request_(request) {}

  void JobStarted(size_t units) override { fractions_.assign(units, 0); }

  void UnitStarted(size_t /*unit*/, const std::string& label) override {
    Line(base::LogLevel::kInfo, "start " + label);
  }

  void UnitProgress(size_t unit, double fraction) override {
    fractions_[unit] = fraction;
    double sum = 0;
    for (const double value : fractions_) sum += value;
    const double done = sum / static_cast<double>(fractions_.size());
    bar_.Show(done, "");
    if (request_.progress_lines && done >= next_line_) {
      Line(base::LogLevel::kInfo, std::to_string(static_cast<int>(done * 100)) + "% done");
      next_line_ = done + 0.1;
    }
  }

  void UnitCompared(const std::string& label, const compare::Comparison& comparison) override {
    if (!request_.tensor_lines) return;
    bar_.Clear();
    const std::string lead = fractions_.size() > 1 ? label + ": " : std::string();
    report::PrintTensorLines(comparison, [&lead](std::string_view line) {
      base::Log(base::LogLevel::kInfo, lead + std::string(line));
    });
  }

  void UnitFinished(size_t unit, const report::UnitSummary& summary) override {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%.3f s", summary.seconds);
    if (summary.status.ok()) {
      Line(base::LogLevel::kInfo,
           "done " + summary.label + " in " + seconds +
               (summary.output.empty() ? std::string() : ": " + summary.output.string()));
    } else {
      Line(base::LogLevel::kInfo, "failed " + summary.label);
      PrintStatus(summary.status);
    }
    UnitProgress(unit, 1);
  }

  void Finish() { bar_.Clear(); }

 private:
  void Line(base::LogLevel level, const std::string& text) {
    bar_.Clear();
    base::Log(level, report::Printable(text));
  }

  const GraphRequest& request_;
  ProgressBar bar_;
  std::vector<double> fractions_;
  double next_line_ = 0.1;
};

Status ReadThreads(const Arguments& arguments, size_t* threads) {
  if (!arguments.Has("--jobs")) return Status::Ok();
  const std::string text = arguments.Value("--jobs");
  const std::optional<uint64_t> number = base::ParseUnsigned(text);
  if (!number || *number == 0 || *number > 4096) {
    return InvalidArgumentError("-j cannot be '" + text + "'",
                                "give a number of threads from 1 to 4096");
  }
  *threads = static_cast<size_t>(*number);
  return Status::Ok();
}

Status ReadPaths(const Arguments& arguments, GraphRequest* request,
                 base::Diagnostics* diagnostics) {
  const bool from_file = arguments.Has("--input_path");
  std::string target = arguments.Value("--target_path");
  std::string golden = arguments.Value("--golden_path");
  if (!arguments.positional.empty()) {
    if (!target.empty()) {
      return InvalidArgumentError("the target is given twice", "give TARGET or -tp, not both");
    }
    target = arguments.positional[0];
    if (arguments.positional.size() > 1) {
      if (!golden.empty()) {
        return InvalidArgumentError("the golden side is given twice",
                                    "give GOLDEN or -gp, not both");
      }
      golden = arguments.positional[1];
    }
  }
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
  MSPROBE_RETURN_IF_ERROR(ReadThreads(arguments, &job.threads));
  const std::string format = arguments.Value("--format", visualize ? "db" : "vis");
  const std::string match = arguments.Value("--match", visualize ? "loose" : "strict");
  job.output = arguments.Value("--output_path");
  job.format = format == "db" ? app::OutputFormat::kVisDb : app::OutputFormat::kVis;
  job.match_mode = match == "loose" ? graph::MatchMode::kLoose : graph::MatchMode::kStrict;
  job.fuzzy_match = arguments.Has("--fuzzy_match");
  job.layer_mapping = arguments.Value("--layer_mapping");
  job.ignore_classes = arguments.Has("--layer_mapping");
  job.overflow_check = arguments.Has("--overflow_check");
  job.complete_stack = arguments.Has("--complete_stack");
  job.framework = arguments.framework;
  request.tensor_lines |= arguments.Has("--tensor_log");
  request.progress_lines = arguments.Has("--progress_log");
  request.json = arguments.Has("--json");
  if (arguments.Has("--fail-on")) {
    MSPROBE_ASSIGN_OR_RETURN(request.fail_on, app::ParseFailOn(arguments.Value("--fail-on")));
    if (job.golden.empty()) {
      return InvalidArgumentError("--fail-on needs a golden side: nothing is compared",
                                  "give GOLDEN, or leave --fail-on out");
    }
  }
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
  ConsoleObserver observer(*request);
  const Result<app::GraphSummary> summary =
      app::RunGraphJob(request->job, &observer, &InstallSignalHandlers(), &diagnostics);
  observer.Finish();
  PrintDiagnostics(diagnostics);
  if (!summary.ok()) {
    PrintStatus(summary.status());
    const int signal_code = SignalExitCode();
    return signal_code != 0 ? signal_code : app::ExitCode(summary.status());
  }
  if (request->job.format == app::OutputFormat::kVisDb) {
    for (const std::filesystem::path& path : summary->outputs) {
      base::Log(base::LogLevel::kInfo, "written: " + report::Printable(path.string()));
    }
  }
  const int code = app::ExitCode(*summary, request->fail_on);
  const std::string table = report::SummaryTable(summary->units);
  if (request->json) {
    PrintError(table);
    PrintOut(report::SummaryJson(summary->units, summary->seconds, code) + "\n");
  } else {
    PrintOut(table);
  }
  return code;
}

int RunGraphCommand(const Arguments& arguments) { return RunGraph(arguments, false); }
int RunGraphVisualizeCommand(const Arguments& arguments) { return RunGraph(arguments, true); }

const OptionSpec kOutput = {"--output_path",
                            {"-o"},
                            OptionKind::kValue,
                            "DIR",
                            "directory for the result, made if missing; required",
                            ValueHint::kDirectory,
                            {},
                            true};
const OptionSpec kTarget = {"--target_path",
                            {"-tp"},
                            OptionKind::kValue,
                            "DIR",
                            "dump to look at",
                            ValueHint::kDirectory,
                            {},
                            false};
const OptionSpec kRequiredTarget = {"--target_path",
                                    {"-tp"},
                                    OptionKind::kValue,
                                    "DIR",
                                    "dump to look at; required",
                                    ValueHint::kDirectory,
                                    {},
                                    true};
const OptionSpec kGolden = {"--golden_path",
                            {"-gp"},
                            OptionKind::kValue,
                            "DIR",
                            "dump to compare with; without it one graph is built",
                            ValueHint::kDirectory,
                            {},
                            false};

/// The options that both commands share, with their defaults in the text.
// NOLINTNEXTLINE(readability-function-size): a table, read from top to bottom
std::vector<OptionSpec> SharedOptions(std::vector<OptionSpec> own, std::string_view format_help,
                                      std::string_view match_help,
                                      std::vector<std::string_view> fuzzy_shorts) {
  const std::vector<OptionSpec> shared = {
      {"--match",
       {},
       OptionKind::kValue,
       "MODE",
       match_help,
       ValueHint::kChoice,
       {"strict", "loose"},
       false},
      {"--fuzzy_match",
       std::move(fuzzy_shorts),
       OptionKind::kFlag,
       "",
       "pair the APIs inside a module by name and order, whatever their call numbers",
       ValueHint::kNone,
       {},
       false},
      {"--overflow_check",
       {"-oc"},
       OptionKind::kFlag,
       "",
       "mark where NaN, infinities or a jump of the norm appear (medium, high, critical)",
       ValueHint::kNone,
       {},
       false},
      {"--complete_stack",
       {"-cs"},
       OptionKind::kFlag,
       "",
       "keep whole call stacks instead of one line",
       ValueHint::kNone,
       {},
       false},
      {"--format",
       {},
       OptionKind::kValue,
       "FORMAT",
       format_help,
       ValueHint::kChoice,
       {"vis", "db"},
       false},
      {"--jobs",
       {"-j"},
       OptionKind::kValue,
       "N",
       "threads; default: all cores",
       ValueHint::kNone,
       {},
       false},
      {"--fail-on",
       {},
       OptionKind::kValue,
       "LEVELS",
       "exit with 1 if the comparison found any of these (comma list): error, warning (or "
       "worse), unmatched, unreadable, culprit",
       ValueHint::kNone,
       {},
       false},
      {"--json",
       {},
       OptionKind::kFlag,
       "",
       "print the closing summary as one JSON object on standard output, all else on standard "
       "error",
       ValueHint::kNone,
       {},
       false},
      {"--tensor_log",
       {"-tensor_log"},
       OptionKind::kFlag,
       "",
       "print the metrics of every tensor (dumps with tensor files)",
       ValueHint::kNone,
       {},
       false},
      {"--progress_log",
       {"-progress_log"},
       OptionKind::kFlag,
       "",
       "print progress lines, also when the output is not a terminal",
       ValueHint::kNone,
       {},
       false},
  };
  own.insert(own.end(), shared.begin(), shared.end());
  return own;
}

constexpr std::string_view kExitCodes =
    "exit codes:\n"
    "  0 fine   1 --fail-on found something   2 usage or bad input\n"
    "  3 finished, but some tensors or records could not be read   4 failed\n";

}  // namespace

extern const Command kGraphCommand;
const Command kGraphCommand = {
    "graph",
    "Build the graph of a dump, or compare two dumps node by node.",
    "  msprobe graph TARGET [GOLDEN] -o DIR [options]\n"
    "  msprobe [-f pytorch|mindspore] graph -i compare.json -o DIR [options]\n",
    kExitCodes,
    "  msprobe graph npu_dump gpu_dump -o out\n"
    "  msprobe graph npu_dump -o out -oc                       one graph, with overflow marks\n"
    "  msprobe -f pytorch graph -i compare.json -o out -lm map.yaml\n"
    "  msprobe graph npu_dump gpu_dump -o out --json --fail-on error,culprit\n",
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
                   {"--input_path",
                    {"-i"},
                    OptionKind::kValue,
                    "FILE",
                    "compare.json with npu_path, bench_path and is_print_compare_log",
                    ValueHint::kFile,
                    {},
                    false},
                   kTarget,
                   kGolden,
                   {"--layer_mapping",
                    {"-lm"},
                    OptionKind::kValue,
                    "YAML",
                    "pair modules whose names differ: ClassName: {child.path: "
                    "golden.child.path}",
                    ValueHint::kFile,
                    {},
                    false}},
                  "vis (default) writes one .vis per rank, db one .vis.db for all",
                  "strict (default) pairs nodes of equal type and shape only, loose marks such "
                  "differences on the pair",
                  {"-f", "-fm"}),
    RunGraphCommand,
};

extern const Command kGraphVisualizeCommand;
const Command kGraphVisualizeCommand = {
    "graph_visualize",
    "The same as graph, with the options and defaults of the newer tools: loose, .vis.db.",
    "  msprobe graph_visualize -tp DIR [-gp DIR] -o DIR [options]\n",
    kExitCodes,
    "  msprobe graph_visualize -tp npu_dump -gp gpu_dump -o out\n"
    "  msprobe graph_visualize -tp npu_dump -gp gpu_dump -o out -lm   class names may differ\n"
    "  msprobe graph_visualize -tp npu_dump -o out -oc\n",
    {},
    SharedOptions({kRequiredTarget,
                   kGolden,
                   kOutput,
                   {"--layer_mapping",
                    {"-lm"},
                    OptionKind::kOptionalValue,
                    "YAML",
                    "pair modules whose names differ; without a file only class names may differ",
                    ValueHint::kFile,
                    {},
                    false}},
                  "db (default) writes one .vis.db for all ranks, vis one .vis per rank",
                  "loose (default) marks differences of type and shape on the pair, strict "
                  "leaves such nodes unmatched",
                  {"-fm"}),
    RunGraphVisualizeCommand,
};

}  // namespace msprobe::cli
