#pragma once

#include <string>
#include <string_view>

namespace msprobe::formats {

/// Appends `text` as a JSON string with its quotes. UTF-8 stays as it is; bytes that are not UTF-8
/// become U+FFFD; only quotes, backslashes and control characters are escaped.
void AppendJsonString(std::string_view text, std::string* out);

/// As AppendJsonString, but leaves out the quotes: for pieces of a longer string.
void AppendJsonEscaped(std::string_view text, std::string* out);

}  // namespace msprobe::formats
