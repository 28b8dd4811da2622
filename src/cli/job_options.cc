#include "cli/job_options.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "app/fail_on.h"
#include "base/file.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "report/junit_xml.h"
#include "report/printable.h"

namespace msprobe::cli {

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

Status ReadSides(const Arguments& arguments, std::string* target_out, std::string* golden_out) {
  std::string target = arguments.Value("--target_path");
  std::string golden = arguments.Value("--golden");
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
  *target_out = std::move(target);
  *golden_out = std::move(golden);
  return Status::Ok();
}

Status ReadJob(const Arguments& arguments, std::string_view match, app::UnitJob* job) {
  MSPROBE_ASSIGN_OR_RETURN(job->match_mode, app::ParseMatchMode(arguments.Value("--match", match)));
  job->fuzzy_match = arguments.Has("--fuzzy_match");
  job->layer_mapping = arguments.Value("--layer_mapping");
  job->ignore_classes = arguments.Has("--layer_mapping");
  job->framework = arguments.framework;
  job->tolerance = arguments.Value("--tolerance");
  job->reference = arguments.Value("--reference");
  for (const std::string_view option : {"--tolerance", "--reference"}) {
    if (arguments.Has(option) && job->golden.empty()) {
      return InvalidArgumentError(std::string(option) + " needs a golden side: nothing is compared",
                                  "give GOLDEN, or leave " + std::string(option) + " out");
    }
  }
  return ReadThreads(arguments, &job->threads);
}

namespace {

/// A report of an earlier run is written over, a dump or a configuration is not.
bool IsOtherFile(const std::filesystem::path& path) {
  constexpr std::string_view kStart = "<?xml";
  std::ifstream file(path, std::ios::binary);
  std::array<char, kStart.size()> start{};
  if (!file || file.peek() == std::ifstream::traits_type::eof()) return false;
  file.read(start.data(), start.size());
  return std::string_view(start.data(), static_cast<size_t>(file.gcount())) != kStart;
}

}  // namespace

Status ReadGate(const Arguments& arguments, const app::UnitJob& job, app::Gate* gate) {
  for (const std::string_view option : {"--fail-on", "--allow", "--junit"}) {
    if (arguments.Has(option) && job.golden.empty()) {
      return InvalidArgumentError(std::string(option) + " needs a golden side: nothing is compared",
                                  "give GOLDEN, or leave " + std::string(option) + " out");
    }
  }
  if (arguments.Has("--fail-on")) {
    MSPROBE_ASSIGN_OR_RETURN(gate->fail_on, app::ParseFailOn(arguments.Value("--fail-on")));
  }
  if (arguments.Has("--allow")) {
    MSPROBE_ASSIGN_OR_RETURN(gate->allow, app::AllowList::Load(arguments.Value("--allow")));
  }
  gate->junit = arguments.Value("--junit");
  if (gate->junit.empty()) return Status::Ok();
  // Hours of comparing must not end at a directory that is not there, or where the file should be.
  std::error_code error;
  if (std::filesystem::is_directory(gate->junit, error)) {
    return InvalidArgumentError("--junit is a directory", "give the name of a file in it",
                                gate->junit.string());
  }
  if (std::filesystem::is_regular_file(gate->junit, error) && IsOtherFile(gate->junit)) {
    return InvalidArgumentError("--junit is a file that is no report", "give another name",
                                gate->junit.string());
  }
  const std::filesystem::path parent = gate->junit.parent_path();
  if (::access(parent.empty() ? "." : parent.c_str(), W_OK | X_OK) == 0) return Status::Ok();
  return InvalidArgumentError("cannot write the file of --junit", "give a directory that is there",
                              gate->junit.string());
}

namespace {

Status WriteJUnit(const std::filesystem::path& path, const std::string& text) {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(path));
  MSPROBE_RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

}  // namespace

int JudgeRun(const app::Gate& gate, const report::RunReport& report,
             std::vector<Status>* failures) {
  const app::GateVerdict verdict = app::Judge(gate, report);
  for (const std::string& note : verdict.notes) {
    base::Log(base::LogLevel::kWarning, report::Printable(note));
  }
  if (gate.junit.empty()) return verdict.exit_code;
  const Status written = WriteJUnit(gate.junit, report::JUnitXml(verdict.suites));
  if (written.ok()) return verdict.exit_code;
  failures->push_back({written.code(), written.fact(),
                       "see that the disk has room, or choose another file with --junit",
                       gate.junit.string()});
  return app::ExitCode(written);
}

int PrintFailures(const std::vector<Status>& failures, int code) {
  for (const Status& failure : failures) code = PrintFailure(failure);
  return code;
}

int PrintFailure(const Status& status) {
  PrintStatus(status);
  const int signal_code = SignalExitCode();
  return signal_code != 0 ? signal_code : app::ExitCode(status);
}

std::vector<OptionSpec> PairOptionSpecs(const MatchWords& words) {
  const std::string prefix(words.prefix);
  const std::string modes =
      words.loose
          ? "loose (default) marks differences of type and shape on the pair, strict leaves "
            "such nodes unmatched, "
          : "strict (default) pairs nodes of equal type and shape only, loose marks such "
            "differences on the pair, ";
  OptionSpec mapping = OptionalFile(
      "--layer_mapping", "YAML",
      prefix + "pair modules whose names differ: ClassName: {child.path: golden.child.path}",
      {"-lm"});
  if (words.bare_mapping) {
    mapping.help += "; without a file only class names may differ";
  } else {
    mapping.kind = OptionKind::kValue;
  }
  return {
      Choice("--match", "MODE",
             prefix + modes + "auto pairs by kind, shapes and order whatever the names",
             {"strict", "loose", "auto"}),
      Flag("--fuzzy_match",
           prefix + "pair the APIs inside a module by name and order, whatever their call numbers",
           words.fuzzy_shorts),
      std::move(mapping),
  };
}

std::vector<OptionSpec> MatchOptionSpecs(const MatchWords& words) {
  const std::string prefix(words.prefix);
  std::vector<OptionSpec> all = PairOptionSpecs(words);
  all.push_back(File("--tolerance", "YAML",
                     prefix + "what is rounding, by name or pattern: tells culprits from what "
                              "agrees; see msprobe tolerance"));
  all.push_back(Directory("--reference", "DIR",
                          prefix + "a run in high precision: what golden is off from it is what "
                                   "the target may be off; tells culprits"));
  return all;
}

OptionSpec JobsOptionSpec() { return Value("--jobs", "N", "threads; default: all cores", {"-j"}); }

OptionSpec GoldenOptionSpec(std::string help) {
  OptionSpec spec = Directory("--golden", "DIR", std::move(help), {"-gp"});
  spec.aliases = {"--golden_path"};  // what other tools call it
  return spec;
}

OptionSpec ProgressOptionSpec() {
  return Flag("--progress_log", "print progress lines, also when the output is not a terminal",
              {"-progress_log"});
}

std::vector<OptionSpec> GateOptionSpecs() {
  return {
      Value("--fail-on", "LEVELS",
            "exit with 1 if the comparison found any of these (comma list): error, warning (or "
            "worse), unmatched, unreadable, culprit, diverged (the verdict)"),
      File("--allow", "YAML",
           "known skips, by name or pattern with a reason; exit with 1 if anything else is "
           "unmatched, unreadable or left out"),
      File("--junit", "FILE", "write the levels of --fail-on as JUnit XML, a test case each"),
  };
}

}  // namespace msprobe::cli
