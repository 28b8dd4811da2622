#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/json/byte_masks.h"

namespace msprobe::formats {

/// A piece of text that will probably come again, as layouts do: comparing it with what stands
/// there is faster than taking that apart once more.
class KnownText {
 public:
  static constexpr size_t kMost = 64;

  /// False, and never found again, if it is too long.
  bool Set(std::string_view text) {
    size_ = text.size() <= kMost ? static_cast<uint32_t>(text.size()) : 0;
    std::copy_n(text.data(), size_, text_.data());
    return size_ > 0;
  }
  uint32_t size() const { return size_; }

  /// `at` is followed by kMost readable bytes.
  bool StandsAt(const char* at) const {
    for (uint32_t i = 0; i < size_; i += 16) {
      const uint32_t left = size_ - i;
      const uint32_t wanted = left >= 16 ? 0xFFFF : (uint32_t{1} << left) - 1;
      if ((EqualBytes(at + i, text_.data() + i) & wanted) != wanted) return false;
    }
    return size_ > 0;
  }

 private:
  alignas(16) std::array<char, kMost> text_{};
  uint32_t size_ = 0;
};

/// Steps through JSON as programs mostly write it: ASCII, nothing escaped, numbers of moderate
/// length. Each step says false for anything else, which may be valid JSON or not: whoever gets
/// false starts again with JsonTape, which takes all JSON and says what is wrong with the rest.
/// What is taken here means the same there.
///
/// `text` must be followed by 64 readable bytes. Steps may pass its end, as those bytes may look
/// like more of it: only AtEnd() says that all that was taken stands in the text.
class PlainJson {
 public:
  explicit PlainJson(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool AtEnd() const { return at_ == end_; }
  const char* position() const { return at_; }

  /// Passes what was taken apart before.
  bool Take(const KnownText& known) {
    if (at_ >= end_ || !known.StandsAt(at_)) return false;
    at_ += known.size();
    return true;
  }

  /// The first byte of the next token; 0 behind the end.
  char Next() { return SkipBlanks() ? *at_ : '\0'; }

  bool Take(char token) {
    if (Next() != token) return false;
    ++at_;
    return true;
  }

  bool Take(std::string_view word) {
    if (Next() != word.front() || static_cast<size_t>(end_ - at_) < word.size() ||
        std::string_view(at_, word.size()) != word) {
      return false;
    }
    at_ += word.size();
    return EndsToken(*at_);
  }

  /// What stands between the quotes.
  bool String(std::string_view* inside) {
    if (!Take('"')) return false;
    const char* const begin = at_;
    for (; at_ < end_; at_ += 16) {
      const uint32_t ends = JsonPlainEnds(at_);
      if (ends == 0) continue;
      at_ += std::countr_zero(ends);
      *inside = {begin, static_cast<size_t>(at_ - begin)};
      return *at_++ == '"';
    }
    return false;
  }

  /// `whole`: without fraction and exponent.
  bool Number(std::string_view* token, bool* whole) {
    if (!SkipBlanks()) return false;
    // With the longest sign, point and exponent a double has 24 characters.
    const uint32_t digits = JsonDigits(at_) | JsonDigits(at_ + 16) << 16;
    int size = *at_ == '-' ? 1 : 0;
    const bool leading_zero = at_[size] == '0';
    const int integer = PassDigits(digits, &size);
    if (integer == 0 || (leading_zero && integer > 1)) return false;
    *whole = true;
    if (size < kMost && at_[size] == '.') {
      *whole = false;
      ++size;
      if (PassDigits(digits, &size) == 0) return false;
    }
    if (size < kMost && (at_[size] == 'e' || at_[size] == 'E')) {
      *whole = false;
      ++size;
      if (at_[size] == '-' || at_[size] == '+') ++size;
      if (size >= kMost || PassDigits(digits, &size) == 0) return false;
    }
    if (size >= kMost || !EndsToken(at_[size])) return false;
    *token = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

  /// Calls element() at each of a list's.
  template <class Element>
  bool List(const Element& element) {
    if (!Take('[')) return false;
    if (Take(']')) return true;
    do {
      if (!element()) return false;
    } while (Take(','));
    return Take(']');
  }

  /// Calls member(key) at each of an object's values.
  template <class Member>
  bool Object(const Member& member) {
    if (!Take('{')) return false;
    if (Take('}')) return true;
    do {
      std::string_view key;
      if (!String(&key) || !Take(':') || !member(key)) return false;
    } while (Take(','));
    return Take('}');
  }

 private:
  static constexpr int kMost = 30;  ///< characters of a number

  static bool EndsToken(char c) {
    return c == ',' || c == '\n' || c == ']' || c == '}' || c == ' ' || c == '\r' || c == '\t';
  }

  int PassDigits(uint32_t digits, int* size) const {
    const int count = std::countr_one(digits >> *size);
    *size += count;
    return count;
  }

  bool SkipBlanks() {
    if (static_cast<unsigned char>(*at_) > ' ') return at_ < end_;
    for (; at_ < end_; at_ += 16) {
      const uint32_t others = ~JsonBlanks(at_) & 0xFFFF;
      if (others == 0) continue;
      at_ += std::countr_zero(others);
      return at_ < end_;
    }
    return false;
  }

  const char* at_;
  const char* end_;
};

}  // namespace msprobe::formats
