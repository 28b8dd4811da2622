#include "base/scratch_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "base/scratch_directory_fixture.h"

namespace msprobe::base {
namespace {

/// No file may grow beyond `bytes`, as if the disk were full.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(ScratchFile, WhatDoesNotFitIsNotThere) {
  const std::filesystem::path directory = std::filesystem::temp_directory_path();
  auto file = ScratchFile::Create(directory, directory);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const std::string first(5000, 'a');
  const std::string large(100'000, 'b');
  const std::string last(6000, 'c');
  ASSERT_TRUE(file->Append(first).ok());
  {
    const SizeLimit limit(20'000);
    EXPECT_FALSE(file->Append(large).ok());
    EXPECT_TRUE(file->Append(last).ok());  // there is room for it
  }
  EXPECT_EQ(file->size(), first.size() + last.size());
  const auto mapped = file->Map();
  ASSERT_TRUE(mapped.ok()) << mapped.status().ToString();
  EXPECT_EQ(mapped->text(), first + last);
}

/// From now on this thread finds no file system that has files without a name.
bool ForbidFilesWithoutName() {
  constexpr auto kFlags =
      static_cast<uint32_t>(offsetof(seccomp_data, args) + 2 * sizeof(uint64_t));
  constexpr uint32_t kNoName = O_TMPFILE & ~O_DIRECTORY;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNoName, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(ScratchFile, WorksWhereEveryFileHasAName) {
  const ScratchDirectory directory;
  bool forbidden = false;
  std::thread([&] {
    forbidden = ForbidFilesWithoutName();
    if (!forbidden) return;
    auto file = ScratchFile::Create(directory.path(), directory.path());
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(directory.entries(), 0u) << "a crash would leave it behind";
    ASSERT_TRUE(file->Append("text").ok());
    const auto mapped = file->Map();
    ASSERT_TRUE(mapped.ok()) << mapped.status().ToString();
    EXPECT_EQ(mapped->text(), "text");
    const auto none = ScratchFile::Create(directory / "none", "out.vis");
    EXPECT_TRUE(none.status().ToString().starts_with("cannot create a temporary file"));
    EXPECT_EQ(none.status().path(), "out.vis");
  }).join();
  if (!forbidden) GTEST_SKIP() << "no system call can be forbidden here";
}

}  // namespace
}  // namespace msprobe::base
