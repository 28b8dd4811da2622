#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace msprobe::formats {

/// Which of 64 bytes are what: bit i is byte i.
struct JsonByteMasks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t open = 0;     ///< { or [
  uint64_t close = 0;    ///< } or ]
  uint64_t control = 0;  ///< below 0x20
};

#ifdef __SSE2__

inline JsonByteMasks ClassifyJsonBytes(const char* bytes) {
  JsonByteMasks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + ptrdiff_t{16} * i));
    // Square and curly brackets differ in bit 0x20 only.
    const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
    const auto bits = [i](__m128i equal) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(equal))) << (16 * i);
    };
    masks.quote |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    masks.backslash |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    masks.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    masks.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    masks.control |= bits(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v));
  }
  return masks;
}

/// Bit i: byte i of 16 is a quote, a backslash, or below 0x20.
inline uint32_t JsonStringSpecials(const char* bytes) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
  const __m128i special =
      _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(special, control)));
}

/// Bit i: byte i of 16 ends a run of plain text in a string: a quote, a backslash, below 0x20, or
/// not ASCII.
inline uint32_t JsonPlainEnds(const char* bytes) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i control_or_high = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));  // signed
  const __m128i special =
      _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(special, control_or_high)));
}

/// Bit i: byte i of 16 is white space between tokens.
inline uint32_t JsonBlanks(const char* bytes) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const auto is = [v](char c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(c)); };
  const __m128i blank = _mm_or_si128(_mm_or_si128(is(' '), is('\n')),  //
                                     _mm_or_si128(is('\r'), is('\t')));
  return static_cast<uint32_t>(_mm_movemask_epi8(blank));
}

/// Bit i: byte i of 16 is the same in both.
inline uint32_t EqualBytes(const char* a, const char* b) {
  const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  return static_cast<uint32_t>(_mm_movemask_epi8(equal));
}

/// Bit i: byte i of 16 is a decimal digit.
inline uint32_t JsonDigits(const char* bytes) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i value = _mm_sub_epi8(v, _mm_set1_epi8('0'));
  const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
  return static_cast<uint32_t>(_mm_movemask_epi8(digit));
}

/// One of 16 bytes is not ASCII.
inline bool HasHighByte(const char* bytes) {
  return _mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))) != 0;
}

#else

inline JsonByteMasks ClassifyJsonBytes(const char* bytes) {
  JsonByteMasks masks;
  for (int i = 0; i < 64; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const uint64_t bit = uint64_t{1} << i;
    if (byte == '"') masks.quote |= bit;
    if (byte == '\\') masks.backslash |= bit;
    if ((byte | 0x20) == '{') masks.open |= bit;
    if ((byte | 0x20) == '}') masks.close |= bit;
    if (byte < 0x20) masks.control |= bit;
  }
  return masks;
}

/// Bit i: `holds` of byte i of 16.
template <class Holds>
uint32_t MaskOf(const char* bytes, const Holds& holds) {
  uint32_t mask = 0;
  for (int i = 0; i < 16; ++i) {
    if (holds(static_cast<unsigned char>(bytes[i]))) mask |= uint32_t{1} << i;
  }
  return mask;
}

inline uint32_t JsonStringSpecials(const char* bytes) {
  return MaskOf(bytes,
                [](unsigned char byte) { return byte == '"' || byte == '\\' || byte < 0x20; });
}

inline uint32_t JsonPlainEnds(const char* bytes) {
  return MaskOf(bytes, [](unsigned char byte) {
    return byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
  });
}

inline uint32_t JsonBlanks(const char* bytes) {
  return MaskOf(bytes, [](unsigned char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

inline uint32_t EqualBytes(const char* a, const char* b) {
  uint32_t mask = 0;
  for (int i = 0; i < 16; ++i) {
    if (a[i] == b[i]) mask |= uint32_t{1} << i;
  }
  return mask;
}

inline uint32_t JsonDigits(const char* bytes) {
  return MaskOf(bytes, [](unsigned char byte) { return byte >= '0' && byte <= '9'; });
}

inline bool HasHighByte(const char* bytes) {
  unsigned char all = 0;
  for (int i = 0; i < 16; ++i) all |= static_cast<unsigned char>(bytes[i]);
  return all >= 0x80;
}

#endif

}  // namespace msprobe::formats
