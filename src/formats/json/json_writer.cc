#include "formats/json/json_writer.h"

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "formats/json/json_escape.h"

namespace msprobe::formats {

void JsonWriter::NewLine() {
  if (layout_ == JsonLayout::kCompact) return;
  out_.push_back('\n');
  out_.append(depth_, ' ');
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
  out_.append(layout_ == JsonLayout::kCompact ? ":" : ": ");
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
  base::AppendInteger(value, &out_);
  return *this;
}

JsonWriter& JsonWriter::UInt(uint64_t value) {
  Separate();
  base::AppendInteger(value, &out_);
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
