#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace msprobe::stats {

/// How many elements are how many units in the last place apart: 0, 1, 2–3, 4–7, 8–15, 16–63,
/// 64–1023, 1024 and more. NaN against NaN and equal infinities are 0 apart, any other pair with
/// one of them is in the last class.
using UlpCounts = std::array<uint64_t, 8>;
inline constexpr std::array<uint32_t, 8> kUlpClasses = {0, 1, 2, 4, 8, 16, 64, 1024};

/// No unit: nothing is counted.
inline constexpr int kNoUlps = -1;

/// Adds all elements, which must be finite. The unit is 2^shift units of the arrays' own type: what
/// a shorter type, whose values they hold, has at the same place.
void CountUlps(const float* target, const float* golden, size_t count, int shift,
               UlpCounts* counts);
void CountUlps(const double* target, const double* golden, size_t count, int shift,
               UlpCounts* counts);
/// Words of one 16-bit float type, in its own units.
void CountUlps(const uint16_t* target, const uint16_t* golden, size_t count, UlpCounts* counts);

/// The same where some are not finite.
void CountSpecialUlps(const float* target, const float* golden, size_t count, int shift,
                      UlpCounts* counts);
void CountSpecialUlps(const double* target, const double* golden, size_t count, int shift,
                      UlpCounts* counts);
/// `infinity`: the word of +Inf.
void CountSpecialUlps(const uint16_t* target, const uint16_t* golden, size_t count,
                      uint16_t infinity, UlpCounts* counts);

}  // namespace msprobe::stats
