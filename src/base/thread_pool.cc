#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace msprobe::base {

size_t AvailableCores() {
  size_t cores = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    cores = std::max<size_t>(1, static_cast<size_t>(CPU_COUNT(&set)));
  }
  // cgroup v2: "<quota> <period>" or "max <period>".
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    const double limit = std::strtod(quota.c_str(), nullptr) / period;
    cores = std::min(cores, std::max<size_t>(1, static_cast<size_t>(std::llround(limit))));
  }
  return cores;
}

void ParallelFor(size_t count, size_t grain, size_t threads,
                 const std::function<void(size_t begin, size_t end)>& body) {
  grain = std::max<size_t>(1, grain);
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::once_flag failed;
  const auto work = [&] {
    try {
      for (;;) {
        const size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= count) return;
        body(begin, std::min(count, begin + grain));
      }
    } catch (...) {
      // In practice bad_alloc: the caller must hear of it, and the other chunks are of no use.
      std::call_once(failed, [&] { failure = std::current_exception(); });
      next.store(count, std::memory_order_relaxed);
    }
  };
  const size_t chunks = (count + grain - 1) / grain;
  const size_t extra = std::min(std::max<size_t>(1, threads), std::max<size_t>(1, chunks)) - 1;
  std::vector<std::thread> workers;
  workers.reserve(extra);
  for (size_t i = 0; i < extra; ++i) {
    try {
      workers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: fewer of them do the same work
    }
  }
  work();
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace msprobe::base
