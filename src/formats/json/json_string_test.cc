#include "formats/json/json_string.h"

#include <gtest/gtest.h>

namespace msprobe::formats {
namespace {

std::string Unescaped(std::string_view raw) {
  std::string out;
  return AppendUnescaped(raw, &out) ? out : "bad";
}

TEST(JsonString, Unescapes) {
  EXPECT_EQ(Unescaped("plain"), "plain");
  EXPECT_EQ(Unescaped(R"(\" \\ \/ \b\f\n\r\t)"), "\" \\ / \b\f\n\r\t");
  EXPECT_EQ(Unescaped(R"(\u00e9\u6F22)"), "\xC3\xA9\xE6\xBC\xA2");
  EXPECT_EQ(Unescaped(R"(\ud83d\ude00!)"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(Unescaped(R"(\u0000)"), std::string(1, '\0'));
}

TEST(JsonString, HalfASurrogatePairBecomesTheReplacementCharacter) {
  EXPECT_EQ(Unescaped(R"(\ud83d)"), "\xEF\xBF\xBD");
  EXPECT_EQ(Unescaped(R"(\ude00)"), "\xEF\xBF\xBD");
  EXPECT_EQ(Unescaped(R"(\ud83d\u0041)"),
            "\xEF\xBF\xBD"
            "A");
}

TEST(JsonString, RefusesOtherEscapes) {
  for (const std::string_view raw : {R"(\x41)", R"(\)", R"(\u12)", R"(\u12g4)", R"(\U0041)"}) {
    EXPECT_EQ(Unescaped(raw), "bad") << raw;
  }
}

TEST(JsonString, ViewsWhatNeedsNoUnescaping) {
  base::StringArena arena;
  bool valid = true;
  const std::string_view plain = "abc";
  EXPECT_EQ(UnescapedView(plain, &arena, &valid).data(), plain.data());
  EXPECT_EQ(UnescapedView(R"(a\tb)", &arena, &valid), "a\tb");
  EXPECT_TRUE(valid);
  EXPECT_EQ(UnescapedView(R"(a\q)", &arena, &valid), R"(a\q)");
  EXPECT_FALSE(valid);
}

}  // namespace
}  // namespace msprobe::formats
