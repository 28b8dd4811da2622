#include "base/log.h"

#include <unistd.h>

#include <string>

#include "base/file.h"

namespace msprobe::base {

namespace {
std::string_view Prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return "[INFO] ";
    case LogLevel::kWarning: return "[WARNING] ";
    case LogLevel::kError: return "[ERROR] ";
  }
  return "";
}
}  // namespace

void Log(LogLevel level, std::string_view text) {
  std::string line(Prefix(level));
  line.append(text).push_back('\n');
  // One write per line keeps lines of several threads and processes whole.
  (void)WriteFully(STDERR_FILENO, line.data(), line.size(), {}).ok();  // perhaps nobody reads it
}

}  // namespace msprobe::base
