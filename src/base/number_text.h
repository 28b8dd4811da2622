#pragma once

#include <string>

namespace msprobe::base {

/// Appends a ratio as "12.317624%", the same text as FormatPercent, faster.
void AppendPercent(double ratio, std::string* out);

/// Appends a number as Python's str() shows a float: "1.5", "nan", "-inf".
void AppendNumberText(double value, std::string* out);

}  // namespace msprobe::base
