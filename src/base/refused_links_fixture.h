#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace msprobe::base {

/// For tests: while it is true, hard links are refused.
inline bool links_are_refused = false;

}  // namespace msprobe::base

/// In place of the C library's: file systems without hard links are hard to come by. A program
/// includes this in one of its files.
extern "C" int link(const char* from, const char* to) noexcept {
  if (!msprobe::base::links_are_refused) return ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = EPERM;
  return -1;
}
