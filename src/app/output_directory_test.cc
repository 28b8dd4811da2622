#include "app/output_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace msprobe::app
