#include "base/stage_timer.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/log.h"

namespace msprobe::base {

namespace {

bool Enabled() {
  static const bool enabled = std::getenv("MSPROBE_TIMING") != nullptr;
  return enabled;
}

double Read(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

StageTimer::StageTimer(std::string_view stage) : stage_(stage) {
  if (!Enabled()) return;
  wall_ = Read(CLOCK_MONOTONIC);
  cpu_ = Read(CLOCK_PROCESS_CPUTIME_ID);
}

StageTimer::~StageTimer() {
  if (!Enabled()) return;
  char times[64];
  std::snprintf(times, sizeof(times), ": %.3f s, cpu %.3f s", Read(CLOCK_MONOTONIC) - wall_,
                Read(CLOCK_PROCESS_CPUTIME_ID) - cpu_);
  Log(LogLevel::kInfo, "timing " + std::string(stage_) + times);
}

}  // namespace msprobe::base
