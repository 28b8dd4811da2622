#include "cli/signals.h"

#include <atomic>
#include <csignal>

namespace msprobe::cli {

namespace {

base::CancelToken token;
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void OnSignal(int number) {
  received.store(number, std::memory_order_relaxed);
  token.Cancel();
}

}  // namespace

const base::CancelToken& InstallSignalHandlers() {
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return token;
}

int SignalExitCode() {
  const int number = received.load(std::memory_order_relaxed);
  return number == 0 ? 0 : 128 + number;
}

}  // namespace msprobe::cli
