#include "base/open_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace msprobe::base {
namespace {

TEST(OpenFile, NeverTakesTheNumberOfAClosedStream) {
  const int kept = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  const int plain = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(plain, STDIN_FILENO);  // what would happen without it
  ::close(plain);
  const int fd = OpenAboveStreams("/dev/null", O_RDWR | O_CLOEXEC, 0);
  EXPECT_GT(fd, STDERR_FILENO);
  EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
  ::close(fd);
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  }
}

TEST(OpenFile, SaysWhyItCannot) {
  errno = 0;
  EXPECT_EQ(OpenAboveStreams("/nowhere/at/all", O_RDONLY | O_CLOEXEC, 0), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace msprobe::base
