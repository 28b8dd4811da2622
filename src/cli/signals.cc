#include "cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/temporary_files.h"

namespace msprobe::cli {

namespace {

base::CancelToken token;
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::atomic<int> count{0};

void OnSignal(int number) {
  // Cancelled work takes a moment to end: who presses Ctrl-C twice must not leave half files.
  if (count.fetch_add(1, std::memory_order_relaxed) == 2) {
    base::RemoveTemporaryFiles();
    ::_exit(128 + number);
  }
  received.store(number, std::memory_order_relaxed);
  token.Cancel();
}

}  // namespace

const base::CancelToken& InstallSignalHandlers() {
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // nohup: go on
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return token;
}

int SignalExitCode() {
  const int number = received.load(std::memory_order_relaxed);
  return number == 0 ? 0 : 128 + number;
}

}  // namespace msprobe::cli
