#include <cinttypes>
#include <filesystem>
#include <vector>

#include "app/api_lists.h"
#include "app/inspect.h"
#include "app/inspect_json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "report/print.h"
#include "report/printable.h"

namespace msprobe::cli {

namespace {

using report::Print;

void AppendCount(uint64_t count, const char* what, std::string* out) {
  if (count > 0) Print(out, ", %" PRIu64 " %s", count, what);
}

void AppendFiles(const app::UnitReport& unit, std::string* out) {
  for (const app::JsonFileReport& file : unit.files) {
    Print(out, "  %-16s ", file.name.c_str());
    if (file.state != app::FileState::kMissing) Print(out, "%12" PRIu64 " bytes", file.bytes);
    if (file.state != app::FileState::kWhole) {
      out->append("  ").append(app::FileStateName(file.state));
    }
    if (file.state == app::FileState::kTorn) {
      out->append(": the end is cut inside a record; --repair closes it");
    }
    if (file.state == app::FileState::kRepaired) {
      Print(out, ": %" PRIu64 " bytes of half a record cut, the old file is %s", file.bytes_cut,
            file.kept_copy.c_str());
    }
    if (!file.problem.ok()) out->append(": ").append(report::Printable(file.problem.fact()));
    out->push_back('\n');
  }
}

void AppendEntries(const app::UnitReport& unit, std::string* out) {
  const app::EntryCounts& entries = unit.entries;
  Print(out, "  %-16s %12" PRIu64, "records", entries.total());
  AppendCount(entries.module_forward, "module forward", out);
  AppendCount(entries.module_backward, "module backward", out);
  AppendCount(entries.api_forward, "API forward", out);
  AppendCount(entries.api_backward, "API backward", out);
  AppendCount(entries.parameters_grad, "parameters_grad", out);
  AppendCount(entries.other, "other", out);
  AppendCount(entries.unreadable, "damaged", out);
  AppendCount(unit.without_place, "not in construct.json", out);
  out->push_back('\n');
  Print(out, "  %-16s %12" PRIu64 "%s%s\n", "tensors", unit.tensors,
        unit.has_statistics ? ", with statistics" : "", unit.has_checksums ? ", with md5" : "");
  const app::TensorFileCounts& files = unit.tensor_files;
  if (files.referenced + files.extra == 0) return;
  Print(out, "  %-16s %12" PRIu64 ", %" PRIu64 " bytes", "tensor files", files.referenced,
        files.bytes);
  AppendCount(files.missing, "missing", out);
  AppendCount(files.damaged, "damaged", out);
  AppendCount(files.extra, "extra, named by no record", out);
  out->push_back('\n');
  for (const Status& problem : unit.tensor_problems) {
    out->append("    ").append(report::Printable(problem.ToString())).push_back('\n');
  }
  const uint64_t problems = files.missing + files.damaged;
  if (problems > unit.tensor_problems.size()) {
    Print(out, "    and %" PRIu64 " more\n", problems - unit.tensor_problems.size());
  }
  for (const std::string& name : unit.extra_files) {
    out->append("    extra: ").append(report::Printable(name)).push_back('\n');
  }
  if (files.extra > unit.extra_files.size()) {
    Print(out, "    and %" PRIu64 " more\n", files.extra - unit.extra_files.size());
  }
}

std::string UnitText(const app::UnitReport& unit) {
  std::string out = report::Printable(unit.label);
  if (unit.status.ok()) {
    const auto known = [](const std::string& text) {
      return text.empty() ? std::string("unknown") : report::Printable(text);
    };
    out += ": " + known(unit.framework) + ", task " + known(unit.task) + ", level " +
           known(unit.level);
  }
  out.push_back('\n');
  AppendFiles(unit, &out);
  if (unit.status.ok()) AppendEntries(unit, &out);
  return out;
}

int PrintApiLists() {
  const Result<std::vector<std::filesystem::path>> lists = app::FindApiLists();
  if (!lists.ok()) return PrintFailure(lists.status());
  for (const std::filesystem::path& list : *lists) {
    PrintOut(report::Printable(list.string()) + "\n");
  }
  return 0;
}

int RunInspect(const Arguments& arguments) {
  const bool only_lists = arguments.Has("--paths");
  if (only_lists != arguments.positional.empty()) {
    return PrintFailure(InvalidArgumentError(
        only_lists ? "--paths looks at no dump" : "DIR is missing", "see msprobe inspect --help"));
  }
  if (only_lists) return PrintApiLists();
  app::InspectOptions options;
  options.repair = arguments.Has("--repair");
  options.cancel = &InstallSignalHandlers();
  base::Diagnostics diagnostics;
  const Result<std::vector<app::UnitReport>> units =
      app::InspectDump(arguments.positional[0], options, &diagnostics);
  PrintDiagnostics(diagnostics);
  if (!units.ok()) return PrintFailure(units.status());
  std::string text;
  for (const app::UnitReport& unit : *units) text += UnitText(unit);
  if (arguments.Has("--json")) {
    PrintError(text);
    PrintOut(app::InspectJson(*units) + "\n");
  } else {
    PrintOut(text);
  }
  for (const app::UnitReport& unit : *units) {
    if (!unit.status.ok()) PrintStatus(unit.status);
  }
  return app::ExitCode(*units);
}

}  // namespace

extern const Command kInspectCommand;
const Command kInspectCommand = {
    "inspect",
    "Tell what a dump holds: ranks, records, tensors, and what is missing or damaged.",
    "  msprobe inspect DIR [--json] [--repair]\n"
    "  msprobe inspect --paths\n",
    "Every tensor file is read: what a .pt file holds is checked against its checksums, which "
    "graph\n"
    "leaves out. Checksums that torch was told to skip are no damage.\n"
    "exit codes:\n"
    "  0 whole   2 no dump, or one that cannot be read\n"
    "  3 something is torn or damaged, or tensor files are missing\n",
    "  msprobe inspect npu_dump\n"
    "  msprobe inspect npu_dump/step0/rank0 --repair\n",
    {{"DIR", "a dump: a rank, or a directory of ranks or steps", ValueHint::kDirectory, {}, false}},
    {Flag("--repair",
          "cut json files of a dump that a crash has torn at the last whole "
          "record; the old file stays as <name>.torn, or .torn_1, … where there is one"),
     Flag("--paths", "only print where the lists of recorded APIs (support_wrap_ops.yaml) lie"),
     Flag("--json",
          "print the report as one JSON object on standard output, all else on standard error")},
    RunInspect,
};

}  // namespace msprobe::cli
