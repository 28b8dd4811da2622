#include "app/output_directory.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace msprobe::app {
namespace {

class OutputDirectoryTest : public ::testing::Test {
 protected:
  OutputDirectoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "msprobe-out-XXXXXX").string();
    top_ = ::mkdtemp(name.data());
  }
  ~OutputDirectoryTest() override { std::filesystem::remove_all(top_); }

  std::filesystem::path top_;
};

TEST_F(OutputDirectoryTest, WhatItMadeGoesAwayEmpty) {
  {
    OutputDirectory directory;
    ASSERT_TRUE(directory.Prepare(top_ / "a" / "b").ok());
    EXPECT_TRUE(std::filesystem::is_directory(top_ / "a" / "b"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(top_));
}

TEST_F(OutputDirectoryTest, IsMadeForTheUserAlone) {
  OutputDirectory directory;
  ASSERT_TRUE(directory.Prepare(top_ / "a" / "b").ok());
  EXPECT_EQ(std::filesystem::status(top_ / "a" / "b").permissions(), std::filesystem::perms(0750));
}

TEST_F(OutputDirectoryTest, WhatHoldsSomethingStays) {
  {
    OutputDirectory directory;
    ASSERT_TRUE(directory.Prepare(top_ / "a" / "b").ok());
    std::ofstream(top_ / "a" / "file");
  }
  EXPECT_FALSE(std::filesystem::exists(top_ / "a" / "b"));
  EXPECT_TRUE(std::filesystem::exists(top_ / "a" / "file"));
}

TEST_F(OutputDirectoryTest, WhatWasThereStays) {
  std::filesystem::create_directory(top_ / "a");
  {
    OutputDirectory directory;
    ASSERT_TRUE(directory.Prepare(top_ / "a").ok());
  }
  EXPECT_TRUE(std::filesystem::is_directory(top_ / "a"));
}

/// Runs `work` in a thread that is nobody: root may write everywhere.
void AsNobody(const std::function<void()>& work) {
  std::thread([&] {
    constexpr uid_t kNobody = 65534;
    // The call itself changes one thread, the function of the C library all of them.
    if (::getuid() == 0) {
      ASSERT_EQ(::syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
    }
    work();
  }).join();
}

TEST_F(OutputDirectoryTest, OneThatIsClosedIsRefusedBeforeTheWork) {
  std::filesystem::permissions(top_, std::filesystem::perms(0555));
  AsNobody([&] {
    OutputDirectory directory;
    const Status status = directory.Prepare(top_);
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_EQ(status.ToString(),
              "cannot write to the output directory (Permission denied); choose another directory "
              "with -o: " +
                  top_.string());
  });
}

}  // namespace
}  // namespace msprobe::app
