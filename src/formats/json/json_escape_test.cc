#include "formats/json/json_escape.h"

#include <gtest/gtest.h>

#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace msprobe::formats {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

TEST(JsonEscape, EscapesStrings) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Quoted("\n\r\t\b\f\x01\x1f\x7f"), "\"\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(Quoted("é漢😀\u2028"), "\"é漢😀\u2028\"");
}

TEST(JsonEscape, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Quoted("a\xFF\"b"), "\"a\xEF\xBF\xBD\\\"b\"");
  EXPECT_EQ(Quoted("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xE6\xBC"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xED\xA0\x80é"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDé\"");
}

// Every byte at every place of a vector is read back as it was.
TEST(JsonEscape, StringsReadBack) {
  for (size_t size = 0; size < 70; ++size) {
    for (int byte = 0; byte < 128; ++byte) {
      std::string text(size, 'x');
      text.push_back(static_cast<char>(byte));
      text.append("é");
      std::string json = Quoted(text);
      const size_t length = json.size();
      json.append(64, ' ');
      JsonTape tape;
      ASSERT_TRUE(tape.Parse({json.data(), length}).ok()) << json;
      std::string back;
      ASSERT_TRUE(AppendUnescaped(tape[0].raw(), &back));
      ASSERT_EQ(back, text);
    }
  }
}

TEST(JsonEscape, EscapesAreFoundAtEveryPlace) {
  for (size_t length = 0; length < 40; ++length) {
    for (size_t place = 0; place <= length; ++place) {
      std::string text(length, 'x');
      text.insert(place, "\"");
      std::string expected(length, 'x');
      expected.insert(place, "\\\"");
      EXPECT_EQ(Quoted(text), "\"" + expected + "\"");
    }
  }
}

TEST(JsonEscape, Utf8PassesAndOtherBytesAreReplaced) {
  EXPECT_EQ(Quoted("卷积层é😀"), "\"卷积层é😀\"");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("a\xFFz"), "\"a" + mark + "z\"");
  EXPECT_EQ(Quoted("\xC0\xAF"), "\"" + mark + mark + "\"");             // overlong
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"" + mark + mark + mark + "\"");  // surrogate
  EXPECT_EQ(Quoted("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"");
  EXPECT_EQ(Quoted("x\xE5\x8D"), "\"x" + mark + mark + "\"");  // cut short
}

}  // namespace
}  // namespace msprobe::formats
