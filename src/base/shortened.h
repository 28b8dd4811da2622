#pragma once

#include <string>
#include <string_view>

namespace msprobe::base {

/// Where the character of UTF-8 begins that the byte at `at` belongs to.
inline size_t CharacterBegin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
    --at;
  return at;
}

/// Foreign text for a message: at most `longest` of its bytes, and never half a character.
inline std::string Shortened(std::string_view text, size_t longest) {
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, CharacterBegin(text, longest))) + "…";
}

}  // namespace msprobe::base
