#pragma once

#include <atomic>

namespace msprobe::base {

/// Set by Ctrl-C (or a closed connection); long loops poll it and return CancelledError().
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace msprobe::base
