#include "visfile/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::visfile {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(text, &out);
  return out;
}

TEST(JsonText, PlainTextStaysAsItIs) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("Module.a.B.forward.0"), "\"Module.a.B.forward.0\"");
  EXPECT_EQ(Quoted("<script>alert('&')</script>"), "\"<script>alert('&')</script>\"");
  EXPECT_EQ(Quoted("\x7F"), "\"\x7F\"");
}

TEST(JsonText, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(Quoted("a\"b\\c\nd\te\rf"), R"("a\"b\\c\nd\te\rf")");
  EXPECT_EQ(Quoted(std::string_view("\0\x01\x1f", 3)), R"("\u0000\u0001\u001f")");
}

TEST(JsonText, EscapesAreFoundAtEveryPlace) {
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

TEST(JsonText, Utf8PassesAndOtherBytesAreReplaced) {
  EXPECT_EQ(Quoted("卷积层é😀"), "\"卷积层é😀\"");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("a\xFFz"), "\"a" + mark + "z\"");
  EXPECT_EQ(Quoted("\xC0\xAF"), "\"" + mark + mark + "\"");             // overlong
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"" + mark + mark + mark + "\"");  // surrogate
  EXPECT_EQ(Quoted("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"");
  EXPECT_EQ(Quoted("x\xE5\x8D"), "\"x" + mark + mark + "\"");  // cut short
}

}  // namespace
}  // namespace msprobe::visfile
