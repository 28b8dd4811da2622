#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msprobe::base {

template <class Integer>
void AppendInteger(Integer value, std::string* out) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out->append(digits.data(), end);
}

/// Appends `value` as Python's repr() writes a float: shortest text that reads back to the same
/// bits, always with a fraction or an exponent ("1.0", "1e-05", "NaN", "Infinity", "-Infinity").
void AppendDouble(double value, std::string* out);

/// Reads a JSON number token or NaN, Infinity, -Infinity, which Python's json writes.
std::optional<double> ParseDouble(std::string_view token);

/// NaN and infinities as C, Python or numpy print them ("nan", "-inf", "INFINITY"), spelled as
/// Python's json does; any other text as it is.
std::string_view JsonNumberText(std::string_view text);

/// Non-negative decimal without sign; nullopt for anything else or on overflow.
std::optional<uint64_t> ParseUnsigned(std::string_view text);

/// As printf writes it with `precision`, in whatever locale the process is: at most 350 characters.
/// `format` scientific is %e, general %g, fixed %f.
std::string FormatNumber(double value, std::chars_format format, int precision);

/// 0.12317624 → "12.317624%"; infinite → "inf%"; NaN → "nan%".
std::string FormatPercent(double ratio);

}  // namespace msprobe::base
