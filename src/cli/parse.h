#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "msprobe/status.h"

namespace msprobe::cli {

/// What stands in front of the command.
struct GlobalArguments {
  bool help = false;
  bool version = false;
  std::string framework;
  const Command* command = nullptr;  ///< null: none given
  std::vector<std::string> rest;     ///< behind the command
};

Result<GlobalArguments> ParseGlobal(std::span<const std::string> arguments,
                                    std::span<const Command* const> commands);

/// Short options (CLI11 knows only those of one letter) become long ones; `--fail_on` and
/// `--fail-on` are the same.
std::vector<std::string> RewriteOptions(std::span<const std::string> arguments,
                                        const Command& command);

/// True if `arguments` ask for help.
bool AsksForHelp(std::span<const std::string> arguments);

/// Errors: InvalidArgument, with the nearest known word.
Result<Arguments> ParseCommand(const Command& command, std::span<const std::string> arguments);

}  // namespace msprobe::cli
