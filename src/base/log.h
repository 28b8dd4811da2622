#pragma once

#include <string_view>

namespace msprobe::base {

enum class LogLevel { kInfo, kWarning, kError };

/// One line "[WARNING] text" on standard error; whole lines even from several threads.
void Log(LogLevel level, std::string_view text);

}  // namespace msprobe::base
