#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace msprobe::base {
namespace {

std::string Text(double value) {
  std::string text;
  AppendDouble(value, &text);
  return text;
}

// Expectations are what Python's repr() prints.
TEST(NumbersTest, DoublesReadAsInPython) {
  EXPECT_EQ(Text(1), "1.0");
  EXPECT_EQ(Text(0.0), "0.0");
  EXPECT_EQ(Text(-0.0), "-0.0");
  EXPECT_EQ(Text(0.1), "0.1");
  EXPECT_EQ(Text(1e-4), "0.0001");
  EXPECT_EQ(Text(1e-5), "1e-05");
  EXPECT_EQ(Text(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(Text(1e15), "1000000000000000.0");
  EXPECT_EQ(Text(1e16), "1e+16");
  EXPECT_EQ(Text(5e-324), "5e-324");
  EXPECT_EQ(Text(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(Text(std::nan("")), "NaN");
  EXPECT_EQ(Text(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(NumbersTest, ParseDoubleTakesJsonTokensOnly) {
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_EQ(ParseDouble("-2e3"), -2000.0);
  EXPECT_TRUE(std::isnan(*ParseDouble("NaN")));
  EXPECT_EQ(ParseDouble("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseDouble("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseDouble("-1e-999"), 0.0);
  EXPECT_EQ(ParseDouble("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(ParseDouble("-1" + std::string(400, '0') + "e-1"),
            -std::numeric_limits<double>::infinity());
  for (const char* bad : {"", "abc", "1.5x", "+1", "nan", "inf", "1.", "--1", " 1"}) {
    EXPECT_FALSE(ParseDouble(bad).has_value()) << bad;
  }
}

TEST(NumbersTest, WhatOthersPrintIsSpelledAsInJson) {
  for (const char* word : {"nan", "NaN", "NAN", "-nan", "+nan"}) {
    EXPECT_EQ(JsonNumberText(word), "NaN") << word;
  }
  for (const char* word : {"inf", "Inf", "+inf", "infinity", "Infinity", "INFINITY"}) {
    EXPECT_EQ(JsonNumberText(word), "Infinity") << word;
  }
  for (const char* word : {"-inf", "-INF", "-infinity", "-Infinity"}) {
    EXPECT_EQ(JsonNumberText(word), "-Infinity") << word;
  }
  for (const char* word : {"", "-", "na", "nano", "infinit", "--inf", "1.5", "+1"}) {
    EXPECT_EQ(JsonNumberText(word), word);
  }
}

TEST(NumbersTest, RoundTripOfHardCases) {
  for (const double value : {1.0 / 3, 2.2250738585072014e-308, 9007199254740993.0, 1e22, 1e23}) {
    EXPECT_EQ(ParseDouble(Text(value)), value);
  }
}

TEST(NumbersTest, ParseUnsigned) {
  EXPECT_EQ(ParseUnsigned("0"), 0U);
  EXPECT_EQ(ParseUnsigned("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "1a", "18446744073709551616", " 1"}) {
    EXPECT_FALSE(ParseUnsigned(bad).has_value()) << bad;
  }
}

TEST(NumbersTest, Percent) {
  EXPECT_EQ(FormatPercent(0.12317624), "12.317624%");
  EXPECT_EQ(FormatPercent(0), "0.000000%");
  EXPECT_EQ(FormatPercent(std::numeric_limits<double>::infinity()), "inf%");
}

}  // namespace
}  // namespace msprobe::base
