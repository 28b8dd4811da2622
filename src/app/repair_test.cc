#include "app/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/refused_links_fixture.h"
#include "base/scratch_directory_fixture.h"

namespace msprobe::app {
namespace {

namespace fs = std::filesystem;

class RepairTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    base::WriteText(directory_ / name, text);
  }
  std::string Read(const std::string& name) {
    auto text = base::ReadSmallFile(directory_ / name, 1 << 20);
    return text.ok() ? std::move(text).value() : std::string("cannot be read");
  }

  base::ScratchDirectory scratch_;
  fs::path directory_ = scratch_.path();
};

constexpr char kDump[] =
    "{\n \"task\": \"statistics\",\n \"data\": {\n  \"a\": {\"x\": [1]},\n  \"b\": {\"y\": \"}\"}\n"
    " }\n}";

TEST_F(RepairTest, LeavesAWholeFileAlone) {
  Write("dump.json", kDump);
  const auto result = RepairJsonFile(directory_, "dump.json");
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_FALSE(result->was_torn);
  EXPECT_EQ(Read("dump.json"), kDump);
  EXPECT_FALSE(fs::exists(directory_ / "dump.json.torn"));
}

TEST_F(RepairTest, KeepsACopyWithoutHardLinksToo) {
  const std::string torn = std::string(kDump).substr(0, sizeof(kDump) - 4);
  Write("dump.json", torn);
  Write("dump.json.torn", "of an earlier time");
  base::links_are_refused = true;
  const auto result = RepairJsonFile(directory_, "dump.json");
  base::links_are_refused = false;
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->was_torn);
  EXPECT_EQ(Read("dump.json.torn"), "of an earlier time");
  EXPECT_EQ(Read("dump.json.torn_1"), torn);
}

TEST_F(RepairTest, AnyCutOfADumpBecomesWholeAndKeepsWholeRecords) {
  const std::string whole = kDump;
  const size_t a_end = whole.find(",\n  \"b\"");
  const size_t b_end = whole.find("\n }\n}");
  for (size_t size = 1; size < whole.size(); ++size) {
    fs::remove(directory_ / "dump.json.torn");
    const std::string torn = whole.substr(0, size);
    Write("dump.json", torn);
    const auto result = RepairJsonFile(directory_, "dump.json");
    ASSERT_TRUE(result.ok()) << size << ": " << result.status().ToString();
    ASSERT_TRUE(result->was_torn) << size;
    const std::string repaired = Read("dump.json");
    EXPECT_EQ(repaired.find("\"a\"") != std::string::npos, size >= a_end) << size;
    EXPECT_EQ(repaired.find("\"b\"") != std::string::npos, size >= b_end) << size;
    EXPECT_NE(repaired.find("\"data\""), std::string::npos) << size;
    EXPECT_EQ(Read("dump.json.torn"), torn);
    const auto again = RepairJsonFile(directory_, "dump.json");
    ASSERT_TRUE(again.ok()) << size << ": " << repaired;
    EXPECT_FALSE(again->was_torn) << size << ": " << repaired;
  }
}

TEST_F(RepairTest, SpacesBeforeTheFirstMemberAreNone) {
  Write("dump.json", "  {\n \"task");
  ASSERT_TRUE(RepairJsonFile(directory_, "dump.json").ok());
  EXPECT_EQ(Read("dump.json"), "  {\n \"data\": {}\n}");
}

TEST_F(RepairTest, ConstructEdgesAreTheRecords) {
  Write("construct.json", "{\n \"a\": null,\n \"b\": \"a\",\n \"c\": \"b");
  ASSERT_TRUE(RepairJsonFile(directory_, "construct.json").ok());
  EXPECT_EQ(Read("construct.json"), "{\n \"a\": null,\n \"b\": \"a\"\n}");
}

TEST_F(RepairTest, KeepsEarlierCopies) {
  Write("stack.json.torn", "older");
  Write("stack.json", "{\"0\": [[\"a\"], [\"f\"]], \"1");
  const auto result = RepairJsonFile(directory_, "stack.json");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->kept_copy.filename(), "stack.json.torn_1");
  EXPECT_EQ(Read("stack.json.torn"), "older");
}

TEST_F(RepairTest, DamageInsideIsNotATear) {
  Write("dump.json", "{\"data\": {\"a\" 1}}");
  const auto result = RepairJsonFile(directory_, "dump.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace msprobe::app
