#include "formats/npy/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "formats/byte_order.h"
#include "formats/shape_check.h"

namespace msprobe::formats {

namespace {

Status Malformed(std::string_view what) {
  return CorruptError("malformed .npy header: " + std::string(what), "write the file again");
}

/// Takes tokens off the front of the text.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  bool TakeSymbol(char symbol) {
    SkipSpace();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool NextIs(char symbol) {
    SkipSpace();
    return rest_.starts_with(symbol);
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> TakeString() {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<int64_t> TakeInteger() {
    SkipSpace();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // written by Python 2
    return value;
  }

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }

 private:
  void SkipSpace() {
    const size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  std::string_view rest_;
};

Status ParseShape(HeaderParser* parser, std::vector<int64_t>* shape) {
  if (!parser->TakeSymbol('(')) return Malformed("'shape' is not a tuple");
  while (!parser->TakeSymbol(')')) {
    const std::optional<int64_t> extent = parser->TakeInteger();
    if (!extent) return Malformed("'shape' holds something else than 64-bit integers");
    shape->push_back(*extent);
    if (!parser->TakeSymbol(',') && !parser->NextIs(')')) return Malformed("'shape' has no end");
  }
  return Status::Ok();
}

enum Field : unsigned { kDescr = 1, kFortranOrder = 2, kShape = 4, kAll = 7 };

Status ParseField(std::string_view key, HeaderParser* parser, NpyHeader* header, unsigned* seen) {
  Field field = kAll;
  if (key == "descr") {
    field = kDescr;
    if (parser->NextIs('[')) {
      return UnsupportedError("structured .npy array (its dtype is a list of fields)",
                              "store one plain array in each file");
    }
    const auto descr = parser->TakeString();
    if (!descr) return Malformed("'descr' is not a string");
    header->descr = *descr;
  } else if (key == "fortran_order") {
    field = kFortranOrder;
    header->fortran_order = parser->TakeWord("True");
    if (!header->fortran_order && !parser->TakeWord("False")) {
      return Malformed("'fortran_order' is neither True nor False");
    }
  } else if (key == "shape") {
    field = kShape;
    MSPROBE_RETURN_IF_ERROR(ParseShape(parser, &header->shape));
  } else {
    return Malformed("unknown key '" + std::string(key.substr(0, 40)) + "'");
  }
  if ((*seen & field) != 0) return Malformed("key '" + std::string(key) + "' stands there twice");
  *seen |= field;
  return Status::Ok();
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view text) {
  HeaderParser parser(text);
  NpyHeader header;
  unsigned seen = 0;
  if (!parser.TakeSymbol('{')) return Malformed("it is not a dict");
  while (!parser.TakeSymbol('}')) {
    const auto key = parser.TakeString();
    if (!key || !parser.TakeSymbol(':')) return Malformed("a key is missing");
    MSPROBE_RETURN_IF_ERROR(ParseField(*key, &parser, &header, &seen));
    if (!parser.TakeSymbol(',') && !parser.NextIs('}')) return Malformed("the dict has no end");
  }
  if (!parser.AtEnd()) return Malformed("something follows the dict");
  if (seen != kAll) return Malformed("'descr', 'fortran_order' or 'shape' is missing");
  return header;
}

std::string FormatNpyHeader(std::string_view descr, const std::vector<int64_t>& shape) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kPrelude = 10;  // magic, version, 16-bit length
  std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) dict += ", ";
    dict += std::to_string(shape[i]);
  }
  dict += shape.size() == 1 ? ",), }" : "), }";
  const size_t unpadded = kPrelude + dict.size() + 1;
  dict.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  AppendLittle(static_cast<uint16_t>(dict.size()), &header);
  return header + dict;
}

}  // namespace msprobe::formats
