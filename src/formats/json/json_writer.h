#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprobe::formats {

/// How the text between values looks.
enum class JsonLayout : uint8_t {
  kCompact,   ///< no white space
  kIndented,  ///< as Python's json.dump(…, indent=1): each member on a line of its own
};

/// Writes JSON to the end of a string that the caller owns and may empty between calls. The caller
/// sees to it that the calls make a document: Key() before each value of an object, as many Ends
/// as Begins.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out, JsonLayout layout = JsonLayout::kCompact)
      : out_(*out), layout_(layout) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  JsonWriter& Key(std::string_view key);

  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t value);
  JsonWriter& UInt(uint64_t value);
  /// As Python's repr(); NaN and infinities, which JSON has no numbers for, as null.
  JsonWriter& Double(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  /// Text that is JSON already; also NaN and Infinity where a format wants them.
  JsonWriter& Raw(std::string_view json);

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();
  void NewLine();

  std::string& out_;
  JsonLayout layout_;
  uint32_t depth_ = 0;
  bool first_ = true;       ///< nothing stands in the innermost container yet
  bool after_key_ = false;  ///< a value follows on the same line
};

}  // namespace msprobe::formats
