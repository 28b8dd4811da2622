#pragma once

#include <string>

#include "cli/command.h"

namespace msprobe::cli {

std::string MainHelp();
std::string CommandHelp(const Command& command);

}  // namespace msprobe::cli
