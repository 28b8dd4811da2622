#include "base/open_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace msprobe::base {

int OpenAboveStreams(const char* path, int flags, mode_t mode) {
  const int low = ::open(path, flags, mode);
  if (low < 0 || low > STDERR_FILENO) return low;
  const int fd = ::fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(low);
  errno = error;
  return fd;
}

}  // namespace msprobe::base
