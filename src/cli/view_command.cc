#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "app/unit_plan.h"
#include "base/diagnostics.h"
#include "base/file.h"
#include "base/numbers.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/job_options.h"
#include "cli/signals.h"
#include "compare/tolerance.h"
#include "dump/layout.h"
#include "formats/json/config_json.h"
#include "formats/json/json_writer.h"
#include "report/printable.h"
#include "server/http_server.h"
#include "server/report_page.h"
#include "viewer/request_guard.h"
#include "viewer/viewer_api.h"

namespace msprobe::cli {

namespace {

/// Shows the address in the desktop's browser, if there is a desktop. A double fork: nobody waits.
void OpenBrowser(const std::string& url) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      ::execlp("xdg-open", "xdg-open", url.c_str(), nullptr);
      ::_exit(127);
    }
    ::_exit(0);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

Result<uint16_t> ParsePort(const std::string& text) {
  const std::optional<uint64_t> port = base::ParseUnsigned(text);
  if (!port || *port > 65535) {
    return InvalidArgumentError("--port " + report::Printable(text) + " is no port",
                                "give a number from 0 (a free one) to 65535");
  }
  return static_cast<uint16_t>(*port);
}

/// The only file to export; with several a name must be chosen.
Result<std::string> FileToExport(viewer::ViewerApi* api) {
  const viewer::Response answer = api->Handle({"GET", "files", "", ""});
  MSPROBE_ASSIGN_OR_RETURN(const formats::ConfigJson list,
                           formats::ConfigJson::Parse(answer.body, "files"));
  const auto files = list.root().Find("files");
  if (!files) return NotFoundError("there is nothing to export");
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<formats::ConfigValue> entries, files->List("files"));
  if (entries.empty()) {
    return NotFoundError("there is no graph to export", "give a .vis, a .vis.db or a dump");
  }
  const auto name = entries.front().Find("file");
  if (entries.size() > 1 || !name) {
    return InvalidArgumentError("there are " + std::to_string(entries.size()) + " graphs here",
                                "name the one to export as PATH");
  }
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view text, name->String("file"));
  return std::string(text);
}

Status Export(viewer::ViewerApi* api, const std::string& path, const std::string& subtree,
              const base::CancelToken& cancel) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string file, FileToExport(api));
  viewer::ExportLimits limits;
  limits.subtree = subtree;
  limits.cancel = &cancel;
  MSPROBE_ASSIGN_OR_RETURN(const std::string data, api->ExportData(file, limits));
  MSPROBE_ASSIGN_OR_RETURN(const std::string page, server::RenderReport(data));
  constexpr const char* kAdvice = "choose another file with --export";
  Result<base::AtomicFile> out = base::AtomicFile::Create(path);
  if (!out.ok()) return std::move(out).status().WithAdvice(kAdvice);
  MSPROBE_RETURN_IF_ERROR(out->Append(page));
  return out->Commit().WithAdvice(kAdvice);
}

/// PATH may be a dump or a directory of several; the golden side is one dump.
Status CheckSides(const std::filesystem::path& path, const std::filesystem::path& golden) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    return InvalidArgumentError("--golden is about dumps, but this is a file",
                                "give the directory of a dump, or leave --golden out",
                                path.string());
  }
  base::Diagnostics foreign;
  MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree right, dump::FindDumpUnits(golden, &foreign));
  const Result<dump::DumpTree> left = dump::FindDumpUnits(path, &foreign);
  return left.ok() ? dump::PairUnits(*left, right).status() : Status::Ok();
}

/// How dumps are compared; what cannot work is said here rather than in the page.
Result<app::UnitJob> ReadDumps(const Arguments& arguments) {
  app::UnitJob job;
  job.golden = arguments.Value("--golden");
  for (const char* option :
       {"--match", "--fuzzy_match", "--layer_mapping", "--tolerance", "--reference"}) {
    if (job.golden.empty() && arguments.Has(option)) {
      return InvalidArgumentError(std::string(option) + " is about two dumps, but there is one",
                                  "give --golden DIR, or leave it out");
    }
  }
  if (!job.golden.empty()) {
    MSPROBE_RETURN_IF_ERROR(CheckSides(arguments.positional[0], job.golden));
  }
  MSPROBE_RETURN_IF_ERROR(ReadJob(arguments, "strict", &job));
  MSPROBE_RETURN_IF_ERROR(app::MatchOptionsOf(job).status());
  if (!job.tolerance.empty()) {
    MSPROBE_RETURN_IF_ERROR(compare::LoadToleranceProfile(job.tolerance).status());
  }
  return job;
}

/// The one thing that is asked for, as a line or as an object with one member.
void PrintAnswer(std::string_view name, const std::string& text, bool json) {
  if (!json) return PrintOut(text + "\n");
  std::string out;
  formats::JsonWriter(&out).BeginObject().Key(name).String(text).EndObject();
  PrintOut(out + "\n");
}

int RunView(const Arguments& arguments) {
  const bool json = arguments.Has("--json");
  server::ServerOptions server;
  server.host = arguments.Value("--host", server.host);
  const Result<uint16_t> port = ParsePort(arguments.Value("--port", "0"));
  if (!port.ok()) return PrintFailure(port.status());
  server.port = *port;

  if (arguments.Has("--subtree") && !arguments.Has("--export")) {
    return PrintFailure(
        InvalidArgumentError("--subtree says what to export, but nothing is exported",
                             "give --export FILE.html, or leave it out"));
  }
  const base::CancelToken& cancel = InstallSignalHandlers();
  viewer::ViewerOptions options;
  options.threads = base::AvailableCores();
  const Result<app::UnitJob> dumps = ReadDumps(arguments);
  if (!dumps.ok()) return PrintFailure(dumps.status());
  options.dumps = *dumps;
  options.data = arguments.Value("--data");
  std::error_code error;
  if (!options.data.empty() && !std::filesystem::is_directory(options.data, error)) {
    return PrintFailure(
        NotFoundError("--data names no directory", "check the path", options.data.string()));
  }
  const Result<std::unique_ptr<viewer::ViewerApi>> api =
      viewer::ViewerApi::Create(arguments.positional[0], options);
  if (!api.ok()) return PrintFailure(api.status());
  if (arguments.Has("--export")) {
    const std::string report = arguments.Value("--export");
    const Status exported = Export(api->get(), report, arguments.Value("--subtree"), cancel);
    if (!exported.ok()) return PrintFailure(exported);
    PrintAnswer("report", report, json);
    return 0;
  }
  const bool open = arguments.Has("--open");
  const Status status = server::Serve(api->get(), server, cancel, [&](const std::string& url) {
    PrintAnswer("url", url, json);
    if (!viewer::IsLoopback(server.host)) {
      PrintError(
          "Whoever reaches this address can read what lies below PATH, without a password.\n");
    }
    PrintError("Serving until Ctrl-C.\n");
    if (open) OpenBrowser(url);
  });
  return status.ok() ? 0 : PrintFailure(status);
}

std::vector<OptionSpec> Options() {
  std::vector<OptionSpec> all = {
      GoldenOptionSpec("compare the dump PATH with this one, without writing files")};
  const std::vector<OptionSpec> match = MatchOptionSpecs({.prefix = "with --golden: "});
  const std::vector<OptionSpec> own = {
      Directory(
          "--data", "DIR",
          "read tensors below DIR too, to compare nodes of real data that are matched by hand"),
      Value("--host", "ADDRESS", "the address to listen on (default 127.0.0.1)"),
      Value("--port", "N", "the port to listen on (default 0: a free one)"),
      Flag("--open", "show the page in the browser"),
      Flag("--json", "print the address, or the file of --export, as a JSON object"),
      File("--export", "FILE",
           "write one page with the data inside instead of serving; it opens without a network"),
      Value("--subtree", "NODE",
            "with --export: only this node and what is in it, by its whole name")};
  for (const std::vector<OptionSpec>* part : {&match, &own}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

}  // namespace

extern const Command kViewCommand;
const Command kViewCommand = {
    "view",
    "Look at graphs and comparisons in the browser.",
    "  msprobe view PATH [--golden DIR [-fm] [-lm [YAML]] [--tolerance YAML] [--reference DIR]]\n"
    "               [--data DIR] [--host ADDRESS] [--port N] [--open]\n"
    "  msprobe view PATH [--golden DIR] --export FILE.html [--subtree NODE]\n",
    "Serves a page over .vis and .vis.db files, or over dumps, whose graphs are then built when\n"
    "they are looked at. Nothing is written but matches that are made by hand in the page.\n"
    "Whoever reaches the address can read what lies below PATH: keep to 127.0.0.1 and use a\n"
    "tunnel (ssh -L 8080:localhost:8080 HOST) from another machine.\n"
    "exit codes:\n"
    "  0 fine, also when Ctrl-C ends it   2 usage or bad input   4 failed\n",
    "  msprobe view output --open\n"
    "  msprobe view npu_dump --golden cpu_dump --port 8080\n"
    "  msprobe view output/compare_20260101120000.vis --export report.html\n",
    {{"PATH", "a .vis or .vis.db, a dump, or a directory of them", ValueHint::kFile, {}, true}},
    Options(),
    RunView,
};

}  // namespace msprobe::cli
