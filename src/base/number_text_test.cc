#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/numbers.h"

namespace msprobe::base {
namespace {

std::string Percent(double ratio) {
  std::string out;
  AppendPercent(ratio, &out);
  return out;
}

TEST(NumberText, PercentIsTheTextOfFormatPercent) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> ratios = {
      0,        -0.0,      0.12317624,   1,     1.5,          -2.25, 1e-12,
      4.9e-9,   5e-9,      5.000001e-9,  1e9,   9.9999e7,     1e12,  1e300,
      infinity, -infinity, std::nan(""), 0.995, 0.1234567850, 1e-300};
  double value = 1e-10;
  for (int i = 0; i < 2000; ++i) ratios.push_back(value *= 1.0173);
  for (int i = 0; i < 2000; ++i) ratios.push_back((2 * i + 1) * 0.5e-8);  // halves
  for (const double ratio : ratios) EXPECT_EQ(Percent(ratio), FormatPercent(ratio)) << ratio;
}

TEST(NumberText, NumbersAreWrittenAsPythonShowsThem) {
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
}  // namespace msprobe::base
