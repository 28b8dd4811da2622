#include "viewer/file_catalog.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch_directory.h"

namespace msprobe::viewer {
namespace {

constexpr uid_t kNobody = 65534;

TEST(FileCatalog, RefusesADirectoryThatCannotBeListed) {
  const base::ScratchDirectory directory("catalog");
  ASSERT_TRUE(FileCatalog::Create(directory.path()).ok());
  ASSERT_EQ(::chmod(directory.path().c_str(), 0), 0);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);  // root may list anything
        const Status status = FileCatalog::Create(directory.path()).status();
        ::_exit(status.path() == directory.path() && status.advice() == "allow reading it" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  ::chmod(directory.path().c_str(), 0700);
}

}  // namespace
}  // namespace msprobe::viewer
