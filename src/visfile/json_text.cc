#include "visfile/json_text.h"

#include <cstdint>
#include <cstring>

namespace msprobe::visfile {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Bytes at the beginning of `text` that stand for themselves in a JSON string: printable ASCII
/// but the quote and the backslash.
size_t PlainPrefix(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x8080808080808080;
  size_t position = 0;
  for (; position + 8 <= text.size(); position += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + position, 8);
    const uint64_t quote = word ^ (kOnes * '"');
    const uint64_t backslash = word ^ (kOnes * '\\');
    const uint64_t special = (word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes) | word;
    if ((special & kHigh) != 0) break;
  }
  while (position < text.size()) {
    const auto c = static_cast<unsigned char>(text[position]);
    if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80) break;
    ++position;
  }
  return position;
}

/// Length of the UTF-8 sequence at the beginning of `text`; 0 if there is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool too_large = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

void AppendControl(char c, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\n': out->append("\\n"); return;
    case '\r': out->append("\\r"); return;
    case '\t': out->append("\\t"); return;
    default: break;
  }
  out->append("\\u00");
  out->push_back(kHex[static_cast<unsigned char>(c) >> 4]);
  out->push_back(kHex[c & 0xF]);
}

}  // namespace

void AppendEscaped(std::string_view text, std::string* out) {
  for (;;) {
    const size_t plain = PlainPrefix(text);
    out->append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      AppendControl(text[0], out);
      text.remove_prefix(1);
      continue;
    }
    const size_t length = Utf8Length(text);
    out->append(length > 0 ? text.substr(0, length) : kReplacement);
    text.remove_prefix(length > 0 ? length : 1);
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  AppendEscaped(text, out);
  out->push_back('"');
}

}  // namespace msprobe::visfile
