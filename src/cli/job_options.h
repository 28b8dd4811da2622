#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/gate.h"
#include "app/unit_plan.h"
#include "cli/command.h"

namespace msprobe::cli {

/// TARGET [GOLDEN], or -tp and -gp; empty where not given.
Status ReadSides(const Arguments& arguments, std::string* target, std::string* golden);

/// --jobs.
Status ReadThreads(const Arguments& arguments, size_t* threads);

/// Threads, framework, how nodes are paired and judged; the sides are in `job` already. `match`:
/// the mode if none is given.
Status ReadJob(const Arguments& arguments, std::string_view match, app::UnitJob* job);

/// --fail-on, --allow, --junit. Needs the golden side in `job`.
Status ReadGate(const Arguments& arguments, const app::UnitJob& job, app::Gate* gate);

/// The exit code of a finished job. Says what --allow does not know and what it need not know any
/// more, and writes the file of --junit; if it cannot, `failures` says so and the code is 4.
int JudgeRun(const app::Gate& gate, const report::RunReport& report, std::vector<Status>* failures);

/// Prints what could not be written of a finished job. The exit code: that of the last, or `code`.
int PrintFailures(const std::vector<Status>& failures, int code);

/// Says what ended the work. The exit code: of the signal that cancelled it, else of the status.
int PrintFailure(const Status& status);

/// How a command words the options of matching.
struct MatchWords {
  std::string_view prefix = {};  ///< in front of each help: "with --golden: "
  bool loose = false;            ///< the default mode; else strict
  bool bare_mapping = true;      ///< --layer_mapping may stand without a file
  Shorts fuzzy_shorts = {"-fm"};
};
/// --match, --fuzzy_match, --layer_mapping: how nodes are paired.
std::vector<OptionSpec> PairOptionSpecs(const MatchWords& words);
/// Those, and --tolerance, --reference: how pairs are judged.
std::vector<OptionSpec> MatchOptionSpecs(const MatchWords& words);
OptionSpec JobsOptionSpec();
OptionSpec GoldenOptionSpec(std::string help);
std::vector<OptionSpec> GateOptionSpecs();
OptionSpec ProgressOptionSpec();

inline constexpr std::string_view kJobExitCodes =
    "exit codes:\n"
    "  0 fine   1 --fail-on or --allow found something   2 usage or bad input\n"
    "  3 finished, but some tensors or records could not be read   4 failed\n";

}  // namespace msprobe::cli
