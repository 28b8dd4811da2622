#pragma once

#include <string>
#include <string_view>

namespace msprobe::visfile {

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendQuoted(std::string_view text, std::string* out);

/// As AppendQuoted, but leaves out the quotes: for pieces of a longer string.
void AppendEscaped(std::string_view text, std::string* out);

/// Appends a ratio as "12.317624%", the same text as base::FormatPercent, faster.
void AppendPercent(double ratio, std::string* out);

/// Appends a number as Python's str() shows a float: "1.5", "nan", "-inf".
void AppendNumberText(double value, std::string* out);

}  // namespace msprobe::visfile
