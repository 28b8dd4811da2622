#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace msprobe::formats {

/// Walks the members of one JSON object or array of any size without looking into their values:
/// a pass of several GB/s that allocates nothing. Values are checked when they are parsed alone.
///
/// `text` must be followed by 64 readable bytes, as base::MappedFile guarantees.
class JsonScanner {
 public:
  enum class Step : uint8_t {
    kMember,
    kEnd,      ///< the closing bracket was passed
    kTorn,     ///< the text ends inside the container
    kGarbage,  ///< something that cannot stand here, at position()
  };

  /// `begin` is the offset of the opening bracket.
  JsonScanner(std::string_view text, size_t begin);

  /// Moves to the value of the next member. The value before must have been taken or left.
  Step Next();
  /// Objects: the key between its quotes, still escaped.
  std::string_view raw_key() const { return raw_key_; }
  /// First byte of the value.
  char value_start() const { return text_[position_]; }

  /// Passes the whole value. kMember, or kTorn, kGarbage.
  Step TakeValue(std::string_view* value);
  /// A scanner over the value, which starts with a bracket. When it has reported its
  /// end, kEnd or kTorn, Leave() it.
  JsonScanner Enter() const { return {text_, position_}; }
  void Leave(const JsonScanner& inner);

  size_t position() const { return position_; }
  /// End of what is whole: the opening bracket, a member, or all of the container.
  size_t whole_end() const { return whole_end_; }

 private:
  Step SkipScalar();

  std::string_view text_;
  size_t position_;
  size_t whole_end_;
  std::string_view raw_key_;
  bool is_object_;
  bool first_ = true;
};

/// Offset of the first byte at or after `position` that is not JSON white space, or text.size().
size_t SkipJsonSpace(std::string_view text, size_t position);

struct JsonStringEnd {
  size_t position;  ///< of the closing quote; npos if there is none
  bool escaped;     ///< a backslash stands in the string
  size_t control;   ///< offset of an unescaped control character, which JSON forbids; npos if none
};

/// Finds the end of the string whose first byte after the opening quote is at `position`. The
/// text must be followed by 64 readable bytes.
JsonStringEnd FindJsonStringEnd(std::string_view text, size_t position);

}  // namespace msprobe::formats
