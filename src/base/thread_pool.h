#pragma once

#include <cstddef>
#include <functional>

namespace msprobe::base {

/// Number of threads that this process may run at once (affinity mask and cgroup quota).
size_t AvailableCores();

/// Calls `body(begin, end)` over [0, count) cut into chunks of at most `grain` on up to `threads`
/// threads, the caller being one of them, and returns when all are done. Chunks start in order.
/// The first exception of a chunk stops the handing out of more and comes out in the caller.
void ParallelFor(size_t count, size_t grain, size_t threads,
                 const std::function<void(size_t begin, size_t end)>& body);

}  // namespace msprobe::base
