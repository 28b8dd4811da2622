#include "formats/json/json_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace msprobe::formats {
namespace {

using Step = JsonScanner::Step;

struct Scan {
  std::vector<std::string> members;  ///< "key=value", "value" in lists
  Step last = Step::kMember;
  size_t position = 0;
  size_t whole_end = 0;
};

Scan ScanAll(const std::string& json) {
  const std::string padded = json + std::string(64, '\0');
  JsonScanner scanner({padded.data(), json.size()}, 0);
  Scan scan;
  while ((scan.last = scanner.Next()) == Step::kMember) {
    const std::string key(scanner.raw_key());
    std::string_view value;
    scan.last = scanner.TakeValue(&value);
    if (scan.last != Step::kMember) break;
    scan.members.push_back(json[0] == '{' ? key + "=" + std::string(value) : std::string(value));
  }
  scan.position = scanner.position();
  scan.whole_end = scanner.whole_end();
  return scan;
}

TEST(JsonScanner, ListsMembersOfAnObject) {
  const Scan scan =
      ScanAll(R"( {"a": 1, "b" : {"x": [1, {"y": "}"}]} , "c":"q\"]", "d":null })" + 1);
  EXPECT_EQ(scan.last, Step::kEnd);
  EXPECT_EQ(scan.members, (std::vector<std::string>{"a=1", R"(b={"x": [1, {"y": "}"}]})",
                                                    R"(c="q\"]")", "d=null"}));
}

TEST(JsonScanner, ListsElementsOfAnArray) {
  EXPECT_EQ(ScanAll("[NaN,-Infinity , [] ,{}]").members,
            (std::vector<std::string>{"NaN", "-Infinity", "[]", "{}"}));
  EXPECT_EQ(ScanAll("[]").last, Step::kEnd);
  EXPECT_EQ(ScanAll("{ }").last, Step::kEnd);
}

// Quotes, backslashes and brackets at every place of a 64-byte block and across its border.
TEST(JsonScanner, UnderstandsStringsAtEveryBlockOffset) {
  for (size_t shift = 0; shift < 140; ++shift) {
    for (const std::string_view text :
         {R"(")", R"(\")", R"(\\)", R"(\\\"]})", R"({[")", R"(\u0022})"}) {
      std::string inner = "{\"k\":\"" + std::string(shift, 'x');
      inner.append(text == R"(")" || text == R"({[")" ? text.substr(0, text.size() - 1) : text);
      inner.append("\",\"]\":[1]}");
      const Scan scan = ScanAll("{\"first\":" + inner + ",\"second\":2}");
      ASSERT_EQ(scan.members, (std::vector<std::string>{"first=" + inner, "second=2"})) << shift;
      ASSERT_EQ(scan.last, Step::kEnd);
    }
  }
}

TEST(JsonScanner, LongRunsOfBackslashes) {
  for (size_t count = 0; count < 200; ++count) {
    const std::string value = "[\"" + std::string(2 * count, '\\') + "\"]";
    ASSERT_EQ(ScanAll("{\"a\":" + value + "}").members, std::vector<std::string>{"a=" + value});
    ASSERT_EQ(ScanAll("{\"a\":[\"" + std::string(2 * count + 1, '\\') + "\"]}").last, Step::kTorn);
  }
}

TEST(JsonScanner, DeepNestingIsOnlyCounted) {
  const std::string value = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(ScanAll("[" + value + "]").members, std::vector<std::string>{value});
}

TEST(JsonScanner, SaysWhereATornTextIsWhole) {
  const std::string json = R"({"a": {"x": "1"}, "b": [2, "3"], "c": 45})";
  const size_t a_end = json.find(", \"b\"");
  const size_t b_end = json.find(", \"c\"");
  for (size_t size = 1; size < json.size(); ++size) {
    const Scan scan = ScanAll(json.substr(0, size));
    ASSERT_EQ(scan.last, Step::kTorn) << size;
    const size_t whole = size >= b_end ? b_end : size >= a_end ? a_end : 1;
    // A number is whole only if something follows it.
    ASSERT_EQ(scan.whole_end, whole) << size;
  }
}

TEST(JsonScanner, PointsAtGarbage) {
  EXPECT_EQ(ScanAll(R"({"a":1 "b":2})").position, 7u);
  EXPECT_EQ(ScanAll(R"({"a":1 "b":2})").last, Step::kGarbage);
  EXPECT_EQ(ScanAll(R"({a:1})").last, Step::kGarbage);
  EXPECT_EQ(ScanAll(R"({"a" 1})").last, Step::kGarbage);
  EXPECT_EQ(ScanAll(R"({"a":,})").last, Step::kGarbage);
  EXPECT_EQ(ScanAll(R"({"a":1,})").last, Step::kGarbage);
  EXPECT_EQ(ScanAll(R"({"a":@})").position, 5u);
  EXPECT_EQ(ScanAll("[1}").last, Step::kGarbage);
}

TEST(JsonScanner, AStringMayNotGoOverALine) {
  EXPECT_EQ(ScanAll("{\"a\n\":1}").position, 3u);
  EXPECT_EQ(ScanAll("{\"a\":\"b\n\"}").position, 7u);
  const Scan scan = ScanAll("{\"a\": {\"quote lost: 1,\n  \"b\": 2}}");
  EXPECT_EQ(scan.last, Step::kGarbage);
  EXPECT_EQ(scan.position, 22u);
}

TEST(JsonScanner, EntersAndLeavesAValue) {
  const std::string json = R"({"data":{"x":[1],"y":2},"task":"t"})" + std::string(64, ' ');
  JsonScanner outer({json.data(), json.size() - 64}, 0);
  ASSERT_EQ(outer.Next(), Step::kMember);
  JsonScanner inner = outer.Enter();
  std::string_view value;
  ASSERT_EQ(inner.Next(), Step::kMember);
  ASSERT_EQ(inner.TakeValue(&value), Step::kMember);
  EXPECT_EQ(value, "[1]");
  ASSERT_EQ(inner.Next(), Step::kMember);
  ASSERT_EQ(inner.TakeValue(&value), Step::kMember);
  ASSERT_EQ(inner.Next(), Step::kEnd);
  outer.Leave(inner);
  ASSERT_EQ(outer.Next(), Step::kMember);
  EXPECT_EQ(outer.raw_key(), "task");
  ASSERT_EQ(outer.TakeValue(&value), Step::kMember);
  EXPECT_EQ(value, "\"t\"");
  EXPECT_EQ(outer.Next(), Step::kEnd);
}

}  // namespace
}  // namespace msprobe::formats
