#pragma once

#include <charconv>
#include <cstdio>
#include <string>

#include "base/numbers.h"

namespace msprobe::report {

/// Appends one line's part, at most 255 characters. Not for fractions: inside a foreign process
/// printf may write them with a comma.
template <class... Args>
void Print(std::string* out, const char* format, Args... args) {
  char line[256];
  std::snprintf(line, sizeof(line), format, args...);
  out->append(line);
}

/// Four significant digits, as %.4g writes them.
inline std::string ShortNumber(double value) {
  return base::FormatNumber(value, std::chars_format::general, 4);
}

}  // namespace msprobe::report
