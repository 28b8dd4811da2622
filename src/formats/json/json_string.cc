#include "formats/json/json_string.h"

#include <simdjson.h>

#include <cstdint>

namespace msprobe::formats {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

/// Bytes of the well-formed UTF-8 character at the beginning of `text`; 0 if there is none.
size_t CharacterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return text.size() >= size && IsUtf8(text.substr(0, size)) ? size : 0;
}

/// The four hexadecimal digits at the beginning of `text`; -1 if they are not there.
int32_t ReadHex4(std::string_view text) {
  if (text.size() < 4) return -1;
  int32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

/// Reads what follows "\u"; advances *position past it (and past the second half of a pair).
bool AppendUnicodeEscape(std::string_view raw, size_t* position, std::string* out) {
  const int32_t unit = ReadHex4(raw.substr(*position));
  if (unit < 0) return false;
  *position += 4;
  auto code_point = static_cast<uint32_t>(unit);
  if (unit >= 0xD800 && unit < 0xE000) {
    code_point = kReplacement;
    if (unit < 0xDC00 && raw.substr(*position).starts_with("\\u")) {
      const int32_t low = ReadHex4(raw.substr(*position + 2));
      if (low >= 0xDC00 && low < 0xE000) {
        code_point = 0x10000 + ((static_cast<uint32_t>(unit) - 0xD800) << 10) +
                     (static_cast<uint32_t>(low) - 0xDC00);
        *position += 6;
      }
    }
  }
  AppendUtf8(code_point, out);
  return true;
}

char SimpleEscape(char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return '\0';
  }
}

}  // namespace

void AppendUtf8(uint32_t code_point, std::string* out) {
  const auto tail = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3F)));
  };
  if (code_point < 0x80) {
    out->push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool AppendUnescaped(std::string_view raw, std::string* out) {
  size_t position = 0;
  while (true) {
    const size_t backslash = raw.find('\\', position);
    out->append(raw.substr(position, backslash - position));
    if (backslash == std::string_view::npos) return true;
    position = backslash + 1;
    if (position == raw.size()) return false;
    const char c = raw[position++];
    if (c == 'u') {
      if (!AppendUnicodeEscape(raw, &position, out)) return false;
    } else {
      const char meaning = SimpleEscape(c);
      if (meaning == '\0') return false;
      out->push_back(meaning);
    }
  }
}

std::string_view UnescapedView(std::string_view raw, base::StringArena* arena, bool* valid) {
  if (raw.find('\\') == std::string_view::npos) return raw;
  std::string text;
  if (!AppendUnescaped(raw, &text)) {
    *valid = false;
    return raw;
  }
  return arena->Copy(text);
}

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string RepairedUtf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) {
      AppendUtf8(kReplacement, &repaired);
    } else {
      repaired.append(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return repaired;
}

}  // namespace msprobe::formats
