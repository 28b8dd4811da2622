#pragma once

#include <exception>
#include <new>

#include "msprobe/status.h"

namespace msprobe::viewer {

/// Runs `work`, which gives a Status. What does not fit into memory, or finds no thread to run in,
/// is an error of this one request or file: the others go on.
template <class Work>
Status Guarded(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return LimitExceededError("out of memory", "close other files, or use a larger machine");
  } catch (const std::exception& error) {
    return InternalError(error.what());
  }
}

}  // namespace msprobe::viewer
