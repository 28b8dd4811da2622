#include "formats/json/json_writer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/numbers.h"
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

void AppendEscaped(std::string_view text, std::string* out) {
  size_t position = 0;
  while (position < text.size()) {
    const size_t special = FindSpecial(text, position);
    out->append(text.substr(position, special - position));
    if (special < text.size()) AppendEscape(text[special], out);
    position = special + 1;
  }
}

template <class Integer>
void AppendInteger(Integer value, std::string* out) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out->append(digits.data(), end);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  if (IsPlain(text)) {
    out->append(text);
  } else if (IsUtf8(text)) {
    AppendEscaped(text, out);
  } else {
    AppendEscaped(RepairedUtf8(text), out);
  }
  out->push_back('"');
}

void JsonWriter::NewLine() {
  if (layout_.indent < 0) return;
  out_.push_back('\n');
  out_.append(static_cast<size_t>(layout_.indent) * depth_, ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ > 0) {
    if (!first_) out_.push_back(',');
    NewLine();
  }
  first_ = false;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  out_.push_back(bracket);
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  --depth_;
  if (!first_) NewLine();
  out_.push_back(bracket);
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(key, &out_);
  out_.append(layout_.colon);
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  AppendJsonString(text, &out_);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  AppendInteger(value, &out_);
  return *this;
}

JsonWriter& JsonWriter::UInt(uint64_t value) {
  Separate();
  AppendInteger(value, &out_);
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  base::AppendDouble(value, &out_);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_.append(json);
  return *this;
}

}  // namespace msprobe::formats
