#include "python/bindings/call_frame.h"

#include <mutex>

namespace msprobe::python {
namespace {

struct EndedThreads {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadState>> states;
};

EndedThreads& TheEndedThreads() {
  static auto* ended = new EndedThreads;  // threads end after everything else
  return *ended;
}

struct Owner {
  ThreadState* state = nullptr;
  ~Owner() {
    if (state == nullptr) return;
    current_thread = nullptr;
    EndedThreads& ended = TheEndedThreads();
    const std::lock_guard lock(ended.mutex);
    ended.states.emplace_back(state);
  }
};

}  // namespace

ThreadState* NewThreadState() {
  static thread_local Owner owner;
  DropEndedThreads();  // a program that makes threads again and again
  owner.state = new ThreadState;
  return owner.state;
}

void DropEndedThreads() {
  std::vector<std::unique_ptr<ThreadState>> states;
  {
    EndedThreads& ended = TheEndedThreads();
    const std::lock_guard lock(ended.mutex);
    states.swap(ended.states);
  }
  states.clear();  // may run code of the program
}

bool IsPartOfRunning(const ModuleInfo& module) {
  const ThreadState& thread = CurrentThread();
  if (thread.depth == 0) return false;
  const ModuleInfo* running = thread.frames[thread.depth - 1]->module.get();
  return running != nullptr && running != &module && running->prefix == module.prefix;
}

}  // namespace msprobe::python
