#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace {

using namespace msprobe;  // NOLINT(google-build-using-namespace): the program itself

int Usage(const Status& status) {
  cli::PrintStatus(status);
  return 2;
}

int Run(const std::vector<std::string>& words) {
  const Result<cli::GlobalArguments> global = cli::ParseGlobal(words, cli::Commands());
  if (!global.ok()) return Usage(global.status());
  const cli::Command* command = global->command;
  if (global->version) {
    cli::PrintOut("msprobe " MSPROBE_VERSION "\n");
    return 0;
  }
  if (command == nullptr) {
    if (global->help) {
      cli::PrintOut(cli::MainHelp());
      return 0;
    }
    cli::PrintError(cli::MainHelp());
    return 2;
  }
  if (global->help || cli::AsksForHelp(global->rest)) {
    cli::PrintOut(cli::CommandHelp(*command));
    return 0;
  }
  Result<cli::Arguments> arguments = cli::ParseCommand(*command, global->rest);
  if (!arguments.ok()) return Usage(arguments.status());
  arguments->framework = global->framework;
  return command->run(*arguments);
}

}  // namespace

int main(int argc, char** argv) {
  cli::OpenStandardStreams();
  try {
    return cli::CheckOutput(Run({argv + 1, argv + argc}));
  } catch (const std::bad_alloc&) {
    cli::PrintStatus(OutOfMemoryError("use fewer threads (-j 1)"));
  } catch (const std::exception& error) {
    cli::PrintStatus(InternalError(error.what()));
  }
  return 4;
}
