#include "base/scratch_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>

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

}  // namespace
}  // namespace msprobe::base
