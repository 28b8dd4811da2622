#include "formats/json/json_scanner.h"

#include <bit>

#include "formats/json/byte_masks.h"

namespace msprobe::formats {

namespace {

constexpr size_t kBlock = 64;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Bytes that a backslash before them escapes. `carry`: the first byte of the next block is one.
uint64_t EscapedBytes(uint64_t backslash, bool* carry) {
  uint64_t escaped = *carry ? 1 : 0;
  backslash &= ~escaped;
  *carry = false;
  while (backslash != 0) {
    const uint64_t bit = backslash & -backslash;
    const uint64_t next = bit << 1;
    if (next == 0) *carry = true;
    escaped |= next;
    backslash &= ~(bit | next);
  }
  return escaped;
}

/// Bit i of the result: odd number of bits set in `bits` up to and including i.
uint64_t PrefixXor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift <<= 1) bits ^= bits << shift;
  return bits;
}

enum class SkipOutcome : uint8_t { kClosed, kTorn, kControlInString };

/// Passes the container whose opening bracket is at *position.
SkipOutcome SkipContainer(std::string_view text, size_t* position) {
  size_t at = *position + 1;
  size_t depth = 1;
  bool escape_carry = false;
  uint64_t string_carry = 0;  // all ones inside a string
  for (; at < text.size(); at += kBlock) {
    const JsonByteMasks masks = ClassifyJsonBytes(text.data() + at);
    const size_t left = text.size() - at;
    const uint64_t valid = left >= kBlock ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    uint64_t quote = masks.quote & valid;
    if (masks.backslash != 0 || escape_carry)
      quote &= ~EscapedBytes(masks.backslash, &escape_carry);
    const uint64_t in_string = PrefixXor(quote) ^ string_carry;
    string_carry = in_string >> 63 != 0 ? ~uint64_t{0} : 0;
    const uint64_t controls = masks.control & in_string & valid;
    uint64_t close = masks.close & ~in_string & valid;
    uint64_t open = masks.open & ~in_string & valid;
    const auto closes = static_cast<size_t>(std::popcount(close));
    if (closes < depth && controls == 0) {
      depth = depth + static_cast<size_t>(std::popcount(open)) - closes;
      continue;
    }
    const auto first_control =
        static_cast<size_t>(controls != 0 ? std::countr_zero(controls) : static_cast<int>(kBlock));
    for (uint64_t brackets = open | close; brackets != 0; brackets &= brackets - 1) {
      const auto index = static_cast<size_t>(std::countr_zero(brackets));
      if (index > first_control) break;
      if ((open >> index & 1) != 0) {
        ++depth;
      } else if (--depth == 0) {
        *position = at + index + 1;
        return SkipOutcome::kClosed;
      }
    }
    if (controls != 0) {
      *position = at + first_control;
      return SkipOutcome::kControlInString;
    }
  }
  *position = text.size();
  return SkipOutcome::kTorn;
}

}  // namespace

size_t SkipJsonSpace(std::string_view text, size_t position) {
  while (position < text.size() && IsSpace(text[position])) ++position;
  return position;
}

JsonStringEnd FindJsonStringEnd(std::string_view text, size_t position) {
  constexpr size_t kNone = std::string_view::npos;
  bool escaped = false;
  while (position < text.size()) {
    const uint32_t specials = JsonStringSpecials(text.data() + position);
    if (specials == 0) {
      position += 16;
      continue;
    }
    position += static_cast<size_t>(std::countr_zero(specials));
    if (position >= text.size()) break;
    if (text[position] == '"') return {position, escaped, kNone};
    if (text[position] != '\\') return {kNone, escaped, position};
    escaped = true;
    position += 2;
  }
  return {kNone, escaped, kNone};
}

JsonScanner::JsonScanner(std::string_view text, size_t begin)
    : text_(text), position_(begin + 1), whole_end_(begin + 1), is_object_(text[begin] == '{') {}

JsonScanner::Step JsonScanner::Next() {
  position_ = SkipJsonSpace(text_, position_);
  if (position_ == text_.size()) return Step::kTorn;
  if (text_[position_] == (is_object_ ? '}' : ']')) {
    whole_end_ = ++position_;
    return Step::kEnd;
  }
  if (!first_) {
    if (text_[position_] != ',') return Step::kGarbage;
    position_ = SkipJsonSpace(text_, position_ + 1);
    if (position_ == text_.size()) return Step::kTorn;
  }
  first_ = false;
  if (!is_object_) return Step::kMember;
  if (text_[position_] != '"') return Step::kGarbage;
  const size_t begin = position_ + 1;
  const JsonStringEnd end = FindJsonStringEnd(text_, begin);
  if (end.position == std::string_view::npos) {
    if (end.control == std::string_view::npos) return Step::kTorn;
    position_ = end.control;
    return Step::kGarbage;
  }
  raw_key_ = text_.substr(begin, end.position - begin);
  position_ = SkipJsonSpace(text_, end.position + 1);
  if (position_ == text_.size()) return Step::kTorn;
  if (text_[position_] != ':') return Step::kGarbage;
  position_ = SkipJsonSpace(text_, position_ + 1);
  return position_ == text_.size() ? Step::kTorn : Step::kMember;
}

JsonScanner::Step JsonScanner::TakeValue(std::string_view* value) {
  const size_t begin = position_;
  Step step = Step::kMember;
  const char first = text_[begin];
  if (first == '{' || first == '[') {
    const SkipOutcome outcome = SkipContainer(text_, &position_);
    if (outcome == SkipOutcome::kTorn) step = Step::kTorn;
    if (outcome == SkipOutcome::kControlInString) step = Step::kGarbage;
  } else if (first == '"') {
    const JsonStringEnd end = FindJsonStringEnd(text_, begin + 1);
    if (end.position != std::string_view::npos) {
      position_ = end.position + 1;
    } else if (end.control != std::string_view::npos) {
      position_ = end.control;
      step = Step::kGarbage;
    } else {
      step = Step::kTorn;
    }
  } else {
    step = SkipScalar();
  }
  if (step != Step::kMember) return step;
  *value = text_.substr(begin, position_ - begin);
  whole_end_ = position_;
  return step;
}

JsonScanner::Step JsonScanner::SkipScalar() {
  const size_t begin = position_;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ',' || c == '}' || c == ']' || IsSpace(c)) {
      return position_ == begin ? Step::kGarbage : Step::kMember;
    }
    const bool may_stand = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
    if (!may_stand) return Step::kGarbage;
    ++position_;
  }
  return Step::kTorn;  // the rest of a number may be missing
}

void JsonScanner::Leave(const JsonScanner& inner) {
  position_ = inner.position_;
  whole_end_ = inner.whole_end_;
}

}  // namespace msprobe::formats
