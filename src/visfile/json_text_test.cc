#include "visfile/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/numbers.h"

namespace msprobe::visfile {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(text, &out);
  return out;
}

std::string Percent(double ratio) {
  std::string out;
  AppendPercent(ratio, &out);
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

TEST(JsonText, PercentIsTheTextOfFormatPercent) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> ratios = {
      0,        -0.0,      0.12317624,   1,     1.5,          -2.25, 1e-12,
      4.9e-9,   5e-9,      5.000001e-9,  1e9,   9.9999e7,     1e12,  1e300,
      infinity, -infinity, std::nan(""), 0.995, 0.1234567850, 1e-300};
  double value = 1e-10;
  for (int i = 0; i < 2000; ++i) ratios.push_back(value *= 1.0173);
  for (int i = 0; i < 2000; ++i) ratios.push_back((2 * i + 1) * 0.5e-8);  // halves
  for (const double ratio : ratios) EXPECT_EQ(Percent(ratio), base::FormatPercent(ratio)) << ratio;
}

TEST(JsonText, NumbersAreWrittenAsPythonShowsThem) {
  const auto text = [](double value) {
    std::string out;
    AppendNumberText(value, &out);
    return out;
  };
  EXPECT_EQ(text(1), "1.0");
  EXPECT_EQ(text(1e-9), "1e-09");
  EXPECT_EQ(text(std::nan("")), "nan");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace msprobe::visfile
