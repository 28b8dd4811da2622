#pragma once

#include <sys/types.h>

namespace msprobe::base {

/// open(), but never under the number of a standard stream: where the process has closed one of
/// them, what any of its libraries prints there would land in the file. -1 and errno on failure.
int OpenAboveStreams(const char* path, int flags, mode_t mode);

}  // namespace msprobe::base
