#pragma once

#include <string>
#include <string_view>

namespace msprobe::visfile {

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendQuoted(std::string_view text, std::string* out);

/// As AppendQuoted, but leaves out the quotes: for pieces of a longer string.
void AppendEscaped(std::string_view text, std::string* out);

}  // namespace msprobe::visfile
