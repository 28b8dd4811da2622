#include "report/printable.h"

#include <cstdio>

namespace msprobe::report {

namespace {

constexpr size_t kLongestName = 200;

/// Bytes at the beginning of `text` that must not reach a terminal; 0 if it is harmless.
size_t DangerousPrefix(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;  // C1 controls
  if (byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: writing direction.
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);
  const bool embeddings = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return marks || embeddings || isolates ? 3 : 0;
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t dangerous = DangerousPrefix(text);
    if (text[0] == '\n' || text[0] == '\t') {
      out.push_back(' ');
    } else if (dangerous == 0) {
      out.push_back(text[0]);
    } else {
      for (size_t i = 0; i < dangerous; ++i) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned char>(text[i]));
        out += escaped;
      }
    }
    text.remove_prefix(dangerous == 0 ? 1 : dangerous);
  }
  return out;
}

std::string PrintableName(std::string_view name) {
  if (name.size() <= kLongestName) return Printable(name);
  size_t head = kLongestName / 2;
  size_t tail = name.size() - kLongestName / 2;
  while (head > 0 && ContinuesCharacter(name[head])) --head;
  while (tail < name.size() && ContinuesCharacter(name[tail])) ++tail;
  return Printable(name.substr(0, head)).append(" … ").append(Printable(name.substr(tail)));
}

}  // namespace msprobe::report
