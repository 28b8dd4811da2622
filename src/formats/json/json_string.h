#pragma once

#include <string>
#include <string_view>

#include "base/string_arena.h"

namespace msprobe::formats {

/// Appends what stands for `raw`, the text between the quotes of a JSON string. Half a surrogate
/// pair becomes U+FFFD. False: an escape that JSON does not know.
[[nodiscard]] bool AppendUnescaped(std::string_view raw, std::string* out);

/// `raw` itself if nothing in it is escaped, else its meaning, kept in `arena`. On a bad escape
/// the text stays as it is and *valid becomes false.
std::string_view UnescapedView(std::string_view raw, base::StringArena* arena, bool* valid);

bool IsUtf8(std::string_view text);

/// The text with U+FFFD in place of every byte that is not UTF-8.
std::string RepairedUtf8(std::string_view text);

/// Appends a code point as UTF-8.
void AppendUtf8(uint32_t code_point, std::string* out);

}  // namespace msprobe::formats
