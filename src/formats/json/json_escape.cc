#include "formats/json/json_escape.h"

#include <bit>
#include <cstdint>

#include "formats/json/byte_masks.h"
#include "formats/json/json_string.h"

namespace msprobe::formats {

namespace {

/// Offset of the first byte at or after `position` that cannot stand in a JSON string.
size_t FindSpecial(std::string_view text, size_t position) {
  while (position + 16 <= text.size()) {
    const uint32_t specials = JsonStringSpecials(text.data() + position);
    if (specials != 0) return position + static_cast<size_t>(std::countr_zero(specials));
    position += 16;
  }
  for (; position < text.size(); ++position) {
    const auto byte = static_cast<unsigned char>(text[position]);
    if (byte < 0x20 || byte == '"' || byte == '\\') return position;
  }
  return text.size();
}

/// Printable ASCII in which nothing needs an escape: nearly every string.
bool IsPlain(std::string_view text) {
  const auto plain = [](const char* bytes) {
    return JsonStringSpecials(bytes) == 0 && !HasHighByte(bytes);
  };
  if (text.size() < 16) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') return false;
    }
    return true;
  }
  for (size_t i = 0; i + 16 < text.size(); i += 16) {
    if (!plain(text.data() + i)) return false;
  }
  return plain(text.data() + text.size() - 16);
}

void AppendEscape(char c, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\b': out->append("\\b"); return;
    case '\f': out->append("\\f"); return;
    case '\n': out->append("\\n"); return;
    case '\r': out->append("\\r"); return;
    case '\t': out->append("\\t"); return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out->append("\\u00");
  out->push_back(kDigits[byte >> 4]);
  out->push_back(kDigits[byte & 15]);
}

void AppendWithEscapes(std::string_view text, std::string* out) {
  size_t position = 0;
  while (position < text.size()) {
    const size_t special = FindSpecial(text, position);
    out->append(text.substr(position, special - position));
    if (special < text.size()) AppendEscape(text[special], out);
    position = special + 1;
  }
}

}  // namespace

void AppendJsonEscaped(std::string_view text, std::string* out) {
  if (IsPlain(text)) {
    out->append(text);
  } else if (IsUtf8(text)) {
    AppendWithEscapes(text, out);
  } else {
    AppendWithEscapes(RepairedUtf8(text), out);
  }
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  AppendJsonEscaped(text, out);
  out->push_back('"');
}

}  // namespace msprobe::formats
