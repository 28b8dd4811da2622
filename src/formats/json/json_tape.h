#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::formats {

enum class JsonKind : uint8_t { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull };

/// One value or key. The tokens of a container follow it directly: keys (kString) and values in
/// turn for objects, values for arrays.
struct JsonToken {
  const char* begin;
  uint32_t size;
  uint32_t end;  ///< index of the first token behind this value with all that it contains
  JsonKind kind;
  bool escaped;  ///< strings: raw() holds a backslash

  /// Strings: what stands between the quotes, still escaped. Numbers: as written, also NaN,
  /// Infinity, -Infinity. Objects and arrays: the opening bracket.
  std::string_view raw() const { return {begin, size}; }
};

/// One JSON value, parsed into a flat list of tokens that is reused from value to value. Numbers
/// are not converted, so none is out of range. All keys of an object are kept, also equal ones:
/// readers let the last count, as Python does.
class JsonTape {
 public:
  static constexpr uint32_t kMaxDepth = 64;
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  JsonTape();
  JsonTape(const JsonTape&) = delete;
  JsonTape& operator=(const JsonTape&) = delete;
  ~JsonTape();

  /// `text` must be followed by 64 readable bytes and outlive the tokens. Errors: Corrupt (with
  /// the place, see error_offset()), LimitExceeded (too deep, too large).
  Status Parse(std::string_view text);

  const std::vector<JsonToken>& tokens() const { return tokens_; }
  const JsonToken& operator[](uint32_t index) const { return tokens_[index]; }
  /// Offset in the text of what Parse() failed at.
  size_t error_offset() const { return error_offset_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<JsonToken> tokens_;
  size_t error_offset_ = 0;
};

}  // namespace msprobe::formats
