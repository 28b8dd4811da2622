#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/cancel.h"
#include "base/thread_pool.h"
#include "msprobe/status.h"

namespace msprobe::base {

/// A thread that threw would leave the others waiting for its turn.
template <class Work>
Status WithoutThrowing(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError("use fewer threads (-j 1)");
  }
}

struct ChunkOptions {
  size_t threads = 1;
  const CancelToken* cancel = nullptr;
};

/// Renders [0, count) in chunks on several threads, and hands the chunks on in their order, one at
/// a time, from whichever thread has rendered them. At most one chunk a thread exists at once.
/// Stops at the first error of `consume`, or when cancelled.
template <class Chunk>
Status OrderedChunks(size_t count, size_t grain, const ChunkOptions& options,
                     const std::function<void(size_t begin, size_t end, Chunk*)>& render,
                     const std::function<Status(const Chunk&)>& consume) {
  std::mutex mutex;
  std::condition_variable turn_changed;
  size_t turn = 0;  // where the chunk begins that is consumed next
  Status status;
  std::vector<std::unique_ptr<Chunk>> spare;

  ParallelFor(count, grain, options.threads, [&](size_t begin, size_t end) {
    std::unique_ptr<Chunk> chunk;
    bool stopped = false;
    {
      const std::lock_guard lock(mutex);
      if (status.ok() && options.cancel != nullptr && options.cancel->cancelled()) {
        status = CancelledError();
      }
      stopped = !status.ok();
      if (!spare.empty()) {
        chunk = std::move(spare.back());
        spare.pop_back();
      }
    }
    Status rendered;
    if (!stopped) {
      rendered = WithoutThrowing([&] {
        if (!chunk) chunk = std::make_unique<Chunk>();
        render(begin, end, chunk.get());
        return Status::Ok();
      });
    }
    std::unique_lock lock(mutex);
    turn_changed.wait(lock, [&] { return turn == begin; });
    if (status.ok()) status = std::move(rendered);
    if (status.ok()) {
      lock.unlock();  // the turn is the lock: nobody else consumes now
      Status consumed = WithoutThrowing([&] { return consume(*chunk); });
      lock.lock();
      if (!consumed.ok()) status = std::move(consumed);
    }
    if (chunk) spare.push_back(std::move(chunk));
    turn = end;
    turn_changed.notify_all();
  });
  return status;
}

}  // namespace msprobe::base
