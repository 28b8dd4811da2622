#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "app/fail_on.h"
#include "base/numbers.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "report/printable.h"
#include "server/http_server.h"
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

int Fail(const Status& status) {
  PrintStatus(status);
  return app::ExitCode(status);
}

int RunView(const Arguments& arguments) {
  server::ServerOptions server;
  server.host = arguments.Value("--host", server.host);
  const Result<uint16_t> port = ParsePort(arguments.Value("--port", "0"));
  if (!port.ok()) return Fail(port.status());
  server.port = *port;

  const base::CancelToken& cancel = InstallSignalHandlers();
  viewer::ViewerOptions options;
  options.threads = base::AvailableCores();
  options.golden = arguments.Value("--golden");
  const Result<std::unique_ptr<viewer::ViewerApi>> api =
      viewer::ViewerApi::Create(arguments.positional[0], options);
  if (!api.ok()) return Fail(api.status());
  const bool open = arguments.Has("--open");
  const Status status = server::Serve(api->get(), server, cancel, [open](const std::string& url) {
    PrintOut(url + "\n");
    PrintError("Serving until Ctrl-C.\n");
    if (open) OpenBrowser(url);
  });
  return status.ok() ? 0 : Fail(status);
}

}  // namespace

extern const Command kViewCommand;
const Command kViewCommand = {
    "view",
    "Look at graphs and comparisons in the browser.",
    "  msprobe view PATH [--golden DIR] [--host ADDRESS] [--port N] [--open]\n",
    "Serves a page over .vis and .vis.db files, or over dumps, whose graphs are then built when\n"
    "they are looked at. Nothing is written but matches that are made by hand in the page.\n"
    "Whoever reaches the address can read what lies below PATH: keep to 127.0.0.1 and use a\n"
    "tunnel (ssh -L 8080:localhost:8080 HOST) from another machine.\n",
    "  msprobe view output --open\n"
    "  msprobe view npu_dump --golden cpu_dump --port 8080\n",
    {{"PATH", "a .vis or .vis.db, a dump, or a directory of them", ValueHint::kFile, {}, true}},
    {{"--golden",
      {},
      OptionKind::kValue,
      "DIR",
      "compare the dump PATH with this one, without writing files",
      ValueHint::kDirectory,
      {},
      false},
     {"--host",
      {},
      OptionKind::kValue,
      "ADDRESS",
      "the address to listen on (default 127.0.0.1)",
      ValueHint::kNone,
      {},
      false},
     {"--port",
      {},
      OptionKind::kValue,
      "N",
      "the port to listen on (default 0: a free one)",
      ValueHint::kNone,
      {},
      false},
     {"--open",
      {},
      OptionKind::kFlag,
      "",
      "show the page in the browser",
      ValueHint::kNone,
      {},
      false}},
    RunView,
};

}  // namespace msprobe::cli
