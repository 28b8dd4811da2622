#include "app/compare_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace msprobe::app {
namespace {

using testing::HasSubstr;

Result<CompareConfig> Read(const std::string& text, base::Diagnostics* diagnostics) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     ("compare_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path, std::ios::binary) << text;
  auto config = ReadCompareConfig(path, diagnostics);
  std::filesystem::remove(path);
  return config;
}

TEST(CompareConfigTest, ReadsKeysAndComments) {
  base::Diagnostics diagnostics;
  const auto config = Read(
      "# both\n{\"npu_path\": \"./npu\", // here\n \"bench_path\": \"/b#1//x\",\n"
      " \"is_print_compare_log\": false}",
      &diagnostics);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->npu_path, "./npu");
  EXPECT_EQ(config->bench_path, "/b#1//x");
  EXPECT_FALSE(config->print_compare_log);
  EXPECT_TRUE(diagnostics.entries().empty());
}

TEST(CompareConfigTest, OnlyTheTargetIsRequired) {
  base::Diagnostics diagnostics;
  const auto config = Read("{\"npu_path\": \"a\", \"bench_path\": null}", &diagnostics);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_TRUE(config->bench_path.empty());
  EXPECT_TRUE(config->print_compare_log);
  const auto emptied = Read("{\"npu_path\": \"a\", \"bench_path\": \"\"}", &diagnostics);
  ASSERT_TRUE(emptied.ok()) << emptied.status().ToString();
  EXPECT_TRUE(emptied->bench_path.empty());
  EXPECT_EQ(diagnostics.count(base::DiagnosticKind::kNote), 2U);
  EXPECT_EQ(diagnostics.entries().front().status.advice(),
            "give the directory of the dump to compare with, or leave bench_path out");
  EXPECT_FALSE(Read("{\"bench_path\": \"a\"}", &diagnostics).ok());
}

TEST(CompareConfigTest, WrongTypesNameTheKey) {
  base::Diagnostics diagnostics;
  EXPECT_THAT(Read("{\"npu_path\": 3}", &diagnostics).status().fact(), HasSubstr("npu_path"));
  EXPECT_THAT(Read("{\"npu_path\": \"a\", \"is_print_compare_log\": \"yes\"}", &diagnostics)
                  .status()
                  .fact(),
              HasSubstr("is_print_compare_log"));
  EXPECT_EQ(Read("[]", &diagnostics).status().code(), StatusCode::kInvalidArgument);
}

TEST(CompareConfigTest, UnknownKeysWarnWithTheNearest) {
  base::Diagnostics diagnostics;
  ASSERT_TRUE(Read("{\"npu_path\": \"a\", \"bench_pth\": \"b\"}", &diagnostics).ok());
  ASSERT_EQ(diagnostics.count(base::DiagnosticKind::kUnknownKey), 1U);
  EXPECT_THAT(diagnostics.entries()[0].status.advice(), HasSubstr("'bench_path'"));
}

}  // namespace
}  // namespace msprobe::app
