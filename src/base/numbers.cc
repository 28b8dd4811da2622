#include "base/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>

namespace msprobe::base {

void AppendDouble(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::isinf(value)) {
    out->append(value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  std::array<char, 40> text;
  // Python switches to exponents below 1e-4 and from 1e16 on.
  const double magnitude = std::fabs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  const std::string_view digits(text.data(), static_cast<size_t>(end - text.data()));
  out->append(digits);
  if (!scientific && digits.find('.') == std::string_view::npos) out->append(".0");
}

std::string_view JsonNumberText(std::string_view text) {
  std::string_view word = text;
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  const auto is = [word](std::string_view lower) {
    return std::ranges::equal(word, lower, {}, [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  };
  if (is("nan")) return "NaN";
  if (is("inf") || is("infinity")) return negative ? "-Infinity" : "Infinity";
  return text;
}

std::optional<double> ParseDouble(std::string_view token) {
  if (token == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (token == "Infinity") return std::numeric_limits<double>::infinity();
  if (token == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (token.empty() || token.front() == '+') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (end != token.data() + token.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Python reads 1e999 as inf and 1e-999 as 0; from_chars leaves the value alone.
    static const locale_t kPlain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return ::strtod_l(std::string(token).c_str(), nullptr, kPlain);
  }
  if (error != std::errc()) return std::nullopt;
  const char last = token.back();
  const char first = token.front() == '-' && token.size() > 1 ? token[1] : token.front();
  // from_chars also takes "inf" and "nan(...)", which are not JSON.
  if (first < '0' || first > '9' || last < '0' || last > '9') return std::nullopt;
  return value;
}

std::optional<uint64_t> ParseUnsigned(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string FormatPercent(double ratio) {
  if (std::isnan(ratio)) return "nan%";
  if (std::isinf(ratio)) return ratio > 0 ? "inf%" : "-inf%";
  return FormatNumber(ratio * 100, std::chars_format::fixed, 6) + "%";
}

std::string FormatNumber(double value, std::chars_format format, int precision) {
  std::array<char, 400> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, format, precision).ptr;
  return {text.data(), end};
}

}  // namespace msprobe::base
