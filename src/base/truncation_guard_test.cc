#include "base/truncation_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace msprobe::base {
namespace {

class TruncationGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "/truncation_guard_" + std::to_string(::getpid());
    AtomicFile file = AtomicFile::Create(path_).value();
    ASSERT_TRUE(file.Append(std::string(kSize, 'x')).ok());
    ASSERT_TRUE(file.Commit().ok());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static constexpr size_t kSize = 64 * 1024;
  std::string path_;
};

TEST_F(TruncationGuardTest, WhatIsCutOffReadsAsZeros) {
  const MappedFile file = MappedFile::Open(path_).value();
  TruncationGuard guard(file.bytes());
  EXPECT_EQ(file.text()[kSize - 1], 'x');
  EXPECT_FALSE(guard.torn());
  ASSERT_EQ(::truncate(path_.c_str(), 10), 0);
  EXPECT_EQ(file.text()[0], 'x');
  EXPECT_EQ(file.text()[kSize - 1], '\0');
  EXPECT_TRUE(guard.torn());

  // Moved, it still watches.
  const TruncationGuard moved = std::move(guard);
  EXPECT_TRUE(moved.torn());
  EXPECT_EQ(file.text()[kSize / 2], '\0');
}

TEST_F(TruncationGuardTest, OthersEndAsEver) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // It is the sanitizer that ends the program then, in another way.
  GTEST_SKIP() << "means nothing under sanitizers";
#endif
  const MappedFile file = MappedFile::Open(path_).value();
  {
    const TruncationGuard guard(file.bytes());
  }
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  EXPECT_EXIT(
      {
        volatile char byte = file.text()[kSize / 2];
        (void)byte;
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(TruncationGuardTest, MoreThanThereAreSlotsIsNoError) {
  const MappedFile file = MappedFile::Open(path_).value();
  std::vector<TruncationGuard> guards;
  for (int i = 0; i < 3000; ++i) guards.emplace_back(file.bytes());
  EXPECT_FALSE(guards.back().torn());
}

}  // namespace
}  // namespace msprobe::base
