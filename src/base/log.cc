#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "base/file.h"

namespace msprobe::base {

namespace {
std::atomic<LogLevel> minimum_level{LogLevel::kInfo};

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
  if (level < minimum_level.load(std::memory_order_relaxed)) return;
  std::string line(Prefix(level));
  line.append(text).push_back('\n');
  // One write per line keeps lines of several threads and processes whole.
  (void)WriteFully(STDERR_FILENO, line.data(), line.size(), {}).ok();  // perhaps nobody reads it
}

void SetMinimumLogLevel(LogLevel level) { minimum_level.store(level, std::memory_order_relaxed); }

}  // namespace msprobe::base
