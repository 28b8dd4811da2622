#include "dump/python_text.h"

#include <string_view>

#include "base/numbers.h"
#include "formats/json/json_string.h"

namespace msprobe::dump {

namespace {

using formats::JsonKind;
using formats::JsonTape;
using formats::JsonToken;

void AppendHex(unsigned char byte, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out->append("\\x");
  out->push_back(kDigits[byte >> 4]);
  out->push_back(kDigits[byte & 15]);
}

/// repr() of a string. Everything beyond ASCII counts as printable.
void AppendStringRepr(std::string_view text, std::string* out) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out->push_back(quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (byte < 0x20 || byte == 0x7F) {
      AppendHex(byte, out);
    } else {
      out->push_back(c);
    }
  }
  out->push_back(quote);
}

Status AppendString(const JsonToken& token, bool quoted, std::string* out) {
  std::string unescaped;
  std::string_view text = token.raw();
  if (token.escaped) {
    if (!formats::AppendUnescaped(text, &unescaped))
      return CorruptError("a bad escape in a string");
    text = unescaped;
  }
  if (quoted) {
    AppendStringRepr(text, out);
  } else {
    out->append(text);
  }
  return Status::Ok();
}

Status AppendValue(const JsonTape& tape, uint32_t index, bool quoted, std::string* out) {
  const JsonToken& token = tape[index];
  switch (token.kind) {
    case JsonKind::kNull: out->append("None"); return Status::Ok();
    case JsonKind::kTrue: out->append("True"); return Status::Ok();
    case JsonKind::kFalse: out->append("False"); return Status::Ok();
    case JsonKind::kNumber: AppendPythonNumber(token.raw(), out); return Status::Ok();
    case JsonKind::kString: return AppendString(token, quoted, out);
    case JsonKind::kArray:
    case JsonKind::kObject: break;
  }
  const bool is_object = token.kind == JsonKind::kObject;
  out->push_back(is_object ? '{' : '[');
  for (uint32_t i = index + 1; i < token.end; i = tape[i].end) {
    if (i > index + 1) out->append(", ");
    if (is_object) {
      MSPROBE_RETURN_IF_ERROR(AppendString(tape[i], true, out));
      out->append(": ");
      ++i;
    }
    MSPROBE_RETURN_IF_ERROR(AppendValue(tape, i, true, out));
  }
  out->push_back(is_object ? '}' : ']');
  return Status::Ok();
}

}  // namespace

void AppendPythonNumber(std::string_view raw, std::string* out) {
  if (raw == "NaN") {
    out->append("nan");
  } else if (raw == "Infinity") {
    out->append("inf");
  } else if (raw == "-Infinity") {
    out->append("-inf");
  } else if (raw.find_first_of(".eE") == std::string_view::npos) {
    out->append(raw == "-0" ? "0" : raw);
  } else {
    const double value = *base::ParseDouble(raw);
    if (value - value == 0) {
      base::AppendDouble(value, out);
    } else {
      out->append(value > 0 ? "inf" : "-inf");
    }
  }
}

Status AppendPythonText(const JsonTape& tape, uint32_t index, std::string* out) {
  return AppendValue(tape, index, false, out);
}

}  // namespace msprobe::dump
