#include "json_mutator.h"

#include <algorithm>
#include <array>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace msprobe::fuzz {

namespace {

/// A value, or a member's key with its value; both may be broken.
struct Piece {
  size_t begin;
  size_t end;
};

constexpr std::array<std::string_view, 26> kValues = {"null",        "true",
                                                      "-0.0",        "0",
                                                      "1",           "-1",
                                                      "NaN",         "Infinity",
                                                      "-Infinity",   "1e308",
                                                      "1e-320",      "1e999",
                                                      "0.1",         "2147483648",
                                                      "4294967295",  "4294967296",
                                                      "1e18",        "9223372036854775808",
                                                      "{}",          "[]",
                                                      R"("")",       R"("NaN")",
                                                      R"("[1, 2]")", R"("\ud800")",
                                                      R"("\\")",     R"("\"\u0000\u20ac")"};

size_t Pick(size_t count, std::mt19937* random) { return (*random)() % count; }

size_t EndOfString(std::string_view text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

size_t EndOfScalar(std::string_view text, size_t begin) {
  const size_t end = text.find_first_of(",:]}[{\" \t\r\n", begin);
  return std::max(begin + 1, std::min(end, text.size()));
}

/// All values of a text, also those of a broken one.
std::vector<Piece> Pieces(std::string_view text) {
  std::vector<Piece> pieces;
  std::vector<size_t> open;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t begin = at;
    if (c == '{' || c == '[') {
      open.push_back(at++);
      continue;
    }
    if (c == '}' || c == ']') {
      ++at;
      if (open.empty()) continue;
      pieces.push_back({open.back(), at});
      open.pop_back();
      continue;
    }
    if (std::string_view(",: \t\r\n").find(c) != std::string_view::npos) {
      ++at;
      continue;
    }
    at = c == '"' ? EndOfString(text, at) : EndOfScalar(text, at);
    pieces.push_back({begin, at});
  }
  return pieces;
}

std::string_view TextOf(std::string_view text, Piece piece) {
  return text.substr(piece.begin, piece.end - piece.begin);
}

std::string Replaced(std::string_view text, Piece piece, std::string_view by) {
  std::string result(text.substr(0, piece.begin));
  result.append(by).append(text.substr(piece.end));
  return result;
}

/// The piece with the comma before or behind it.
Piece WithComma(std::string_view text, Piece piece) {
  const size_t behind = text.find_first_not_of(" \t\r\n", piece.end);
  if (behind < text.size() && text[behind] == ',') return {piece.begin, behind + 1};
  const size_t before = text.find_last_not_of(" \t\r\n", piece.begin == 0 ? 0 : piece.begin - 1);
  if (piece.begin > 0 && before < text.size() && text[before] == ',') return {before, piece.end};
  return piece;
}

std::string Nested(std::string_view value, std::mt19937* random) {
  const size_t depth = Pick(8, random) == 0 ? 1 + Pick(2000, random) : 1 + Pick(4, random);
  const bool list = Pick(2, random) == 0;
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += list ? "[" : R"({"a":)";
  text += value;
  text.append(depth, list ? ']' : '}');
  return text;
}

/// Lets the fuzzer change the characters of a piece; quotes around them stay.
std::string Scribbled(std::string_view piece) {
  const bool quoted = piece.size() >= 2 && piece.front() == '"';
  std::string inside(quoted ? piece.substr(1, piece.size() - 2) : piece);
  const size_t size = inside.size();
  inside.resize(size + 16);
  inside.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(inside.data()), size, inside.size()));
  return quoted ? "\"" + inside + "\"" : inside;
}

}  // namespace

std::string MutateJson(std::string_view text, std::mt19937* random) {
  const std::vector<Piece> pieces = Pieces(text);
  if (pieces.empty()) return std::string(kValues[Pick(kValues.size(), random)]);
  const Piece piece = pieces[Pick(pieces.size(), random)];
  const Piece other = pieces[Pick(pieces.size(), random)];
  const std::string_view value = TextOf(text, piece);
  switch (Pick(8, random)) {
    case 0: return Replaced(text, WithComma(text, piece), "");
    case 1: return Replaced(text, piece, std::string(value) + "," + std::string(value));
    case 2: return Replaced(text, piece, TextOf(text, other));
    case 3: return Replaced(text, piece, kValues[Pick(kValues.size(), random)]);
    case 4: return Replaced(text, piece, Nested(value, random));
    case 5:
      return Replaced(text, piece, std::string(1 + Pick(300, random), ' ') + std::string(value));
    default: return Replaced(text, piece, Scribbled(value));
  }
}

std::string CrossJson(std::string_view text, std::string_view donor, std::mt19937* random) {
  const std::vector<Piece> places = Pieces(text);
  const std::vector<Piece> gifts = Pieces(donor);
  if (places.empty() || gifts.empty()) return std::string(text);
  return Replaced(text, places[Pick(places.size(), random)],
                  TextOf(donor, gifts[Pick(gifts.size(), random)]));
}

}  // namespace msprobe::fuzz

namespace {

size_t Store(std::string_view text, uint8_t* data, size_t max_size) {
  const size_t size = std::min(text.size(), max_size);
  std::copy_n(text.data(), size, reinterpret_cast<char*>(data));
  return size;
}

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(View(data, size));
  for (unsigned i = 1 + random() % 3; i > 0; --i) text = msprobe::fuzz::MutateJson(text, &random);
  return Store(text, data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* two,
                                            size_t two_size, uint8_t* out, size_t max_size,
                                            unsigned int seed) {
  std::mt19937 random(seed);
  return Store(msprobe::fuzz::CrossJson(View(one, one_size), View(two, two_size), &random), out,
               max_size);
}
