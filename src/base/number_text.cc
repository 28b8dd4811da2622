#include "base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/numbers.h"

namespace msprobe::base {

void AppendPercent(double ratio, std::string* out) {
  // In whole millionths of a percent, where the rounding is beyond doubt.
  const double millionths = ratio * 100 * 1e6;
  const double rounded = std::nearbyint(millionths);
  const double distance = std::fabs(millionths - rounded);
  if (!(std::fabs(millionths) < 1e12) || distance > 0.499) {
    out->append(FormatPercent(ratio));
    return;
  }
  auto whole = static_cast<int64_t>(rounded);
  char text[32];
  char* position = text;
  if (std::signbit(ratio)) *position++ = '-';
  if (whole < 0) whole = -whole;
  position = std::to_chars(position, text + sizeof(text), whole / 1'000'000).ptr;
  *position++ = '.';
  int64_t fraction = whole % 1'000'000;
  for (int digit = 5; digit >= 0; --digit) {
    position[digit] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  position += 6;
  *position++ = '%';
  out->append(text, position);
}

void AppendNumberText(double value, std::string* out) {
  if (std::isfinite(value)) {
    AppendDouble(value, out);
  } else {
    out->append(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }
}

}  // namespace msprobe::base
