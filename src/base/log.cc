#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

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
  const char* data = line.data();
  size_t left = line.size();
  while (left > 0) {
    const ssize_t written = ::write(STDERR_FILENO, data, left);
    if (written <= 0) return;  // nobody reads standard error any more
    data += written;
    left -= static_cast<size_t>(written);
  }
}

void SetMinimumLogLevel(LogLevel level) { minimum_level.store(level, std::memory_order_relaxed); }

}  // namespace msprobe::base
