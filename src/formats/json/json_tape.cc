#include "formats/json/json_tape.h"

#include <simdjson.h>

#include <string>

#include "formats/json/json_scanner.h"

namespace msprobe::formats {

namespace {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= 64, "JsonTape::Parse promises to need 64 bytes");

constexpr size_t kKeptBytes = size_t{4} << 20;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A number by JSON's grammar, or one of the words that Python writes.
bool IsNumber(std::string_view text) {
  if (!IsDigit(text.back())) return text == "NaN" || text == "Infinity" || text == "-Infinity";
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i > begin;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const bool leading_zero = i < text.size() && text[i] == '0';
  const size_t begin = i;
  if (!digits() || (leading_zero && i - begin > 1)) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == text.size();
}

std::string_view TrimmedRight(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Turns what simdjson walks over into tokens; lives for one Parse().
class TapeWriter {
 public:
  TapeWriter(std::string_view text, std::vector<JsonToken>* tokens)
      : text_(text), tokens_(tokens) {}

  simdjson::error_code Value(ondemand::value value, uint32_t depth) {
    const std::string_view token = value.raw_json_token();
    const char first = token.front();
    if (first == '{' || first == '[') {
      if (depth == JsonTape::kMaxDepth) {
        too_deep_ = true;
        bad_at_ = token.data();
        return simdjson::DEPTH_ERROR;
      }
      return first == '{' ? Object(value, depth + 1) : Array(value, depth + 1);
    }
    if (first == '"') {
      ondemand::raw_json_string raw;
      SIMDJSON_TRY(value.get_raw_json_string().get(raw));
      return String(raw.raw());
    }
    // Left unread: simdjson steps over it, and would not take NaN as a number.
    return Scalar(token);
  }

  simdjson::error_code Scalar(std::string_view untrimmed) {
    const std::string_view raw = TrimmedRight(untrimmed);
    JsonKind kind = JsonKind::kNumber;
    bool valid = false;
    switch (raw.front()) {
      case 't':
        kind = JsonKind::kTrue;
        valid = raw == "true";
        break;
      case 'f':
        kind = JsonKind::kFalse;
        valid = raw == "false";
        break;
      case 'n':
        kind = JsonKind::kNull;
        valid = raw == "null";
        break;
      default: valid = IsNumber(raw);
    }
    if (!valid) {
      bad_at_ = raw.data();
      return simdjson::NUMBER_ERROR;
    }
    Add(kind, raw, false);
    return simdjson::SUCCESS;
  }

  simdjson::error_code String(const char* begin) {
    const auto offset = static_cast<size_t>(begin - text_.data());
    const JsonStringEnd end = FindJsonStringEnd(text_, offset);
    if (end.position == std::string_view::npos) return simdjson::UNCLOSED_STRING;
    Add(JsonKind::kString, text_.substr(offset, end.position - offset), end.escaped);
    return simdjson::SUCCESS;
  }

  bool too_deep() const { return too_deep_; }
  const char* bad_at() const { return bad_at_; }

 private:
  size_t Add(JsonKind kind, std::string_view raw, bool escaped) {
    tokens_->push_back({raw.data(), static_cast<uint32_t>(raw.size()),
                        static_cast<uint32_t>(tokens_->size() + 1), kind, escaped});
    return tokens_->size() - 1;
  }
  void Close(size_t index) { (*tokens_)[index].end = static_cast<uint32_t>(tokens_->size()); }

  simdjson::error_code Object(ondemand::value value, uint32_t depth);
  simdjson::error_code Array(ondemand::value value, uint32_t depth);

  std::string_view text_;
  std::vector<JsonToken>* tokens_;
  bool too_deep_ = false;
  const char* bad_at_ = nullptr;
};

simdjson::error_code TapeWriter::Object(ondemand::value value, uint32_t depth) {
  const size_t index = Add(JsonKind::kObject, value.raw_json_token().substr(0, 1), false);
  ondemand::object object;
  SIMDJSON_TRY(value.get_object().get(object));
  for (auto result : object) {
    ondemand::field field;
    SIMDJSON_TRY(std::move(result).get(field));
    SIMDJSON_TRY(String(field.key().raw()));
    SIMDJSON_TRY(Value(field.value(), depth));
  }
  Close(index);
  return simdjson::SUCCESS;
}

simdjson::error_code TapeWriter::Array(ondemand::value value, uint32_t depth) {
  const size_t index = Add(JsonKind::kArray, value.raw_json_token().substr(0, 1), false);
  ondemand::array array;
  SIMDJSON_TRY(value.get_array().get(array));
  for (auto result : array) {
    ondemand::value element;
    SIMDJSON_TRY(std::move(result).get(element));
    SIMDJSON_TRY(Value(element, depth));
  }
  Close(index);
  return simdjson::SUCCESS;
}

/// simdjson's words, shortened to what a reader of the file can use.
std::string_view ErrorText(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR: return "bytes that are not UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string without end";
    case simdjson::UNESCAPED_CHARS: return "a control character in a string";
    case simdjson::EMPTY: return "no value";
    case simdjson::NUMBER_ERROR: return "something that is no JSON value";
    default: return "broken JSON";
  }
}

}  // namespace

struct JsonTape::Parser {
  ondemand::parser parser;

  simdjson::error_code Walk(std::string_view text, TapeWriter* writer, const char** where) {
    ondemand::document document;
    // The capacity claims the padding that the caller promises.
    SIMDJSON_TRY(parser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING)
                     .get(document));
    const simdjson::error_code error = Root(text, &document, writer);
    if (error != simdjson::SUCCESS) {
      if (document.current_location().get(*where) != simdjson::SUCCESS) *where = nullptr;
    }
    return error;
  }

 private:
  static simdjson::error_code Root(std::string_view text, ondemand::document* document,
                                   TapeWriter* writer) {
    std::string_view token;
    SIMDJSON_TRY(document->raw_json_token().get(token));
    if (token.front() != '{' && token.front() != '[') {
      if (token.data() + token.size() != text.data() + text.size()) {
        return simdjson::TRAILING_CONTENT;
      }
      if (token.front() == '"') return writer->String(token.data() + 1);
      return writer->Scalar(token);
    }
    ondemand::value value;
    SIMDJSON_TRY(document->get_value().get(value));
    SIMDJSON_TRY(writer->Value(value, 0));
    const bool at_end = document->current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }
};

JsonTape::JsonTape() : parser_(std::make_unique<Parser>()) {}
JsonTape::~JsonTape() = default;

Status JsonTape::Parse(std::string_view text) {
  tokens_.clear();
  error_offset_ = 0;
  if (text.size() > kMaxBytes) {
    return LimitExceededError("a JSON value of " + std::to_string(text.size()) +
                              " bytes, the limit is " + std::to_string(kMaxBytes));
  }
  TapeWriter writer(text, &tokens_);
  const char* where = nullptr;
  const simdjson::error_code error = parser_->Walk(text, &writer, &where);
  // A thread keeps its tape: one huge value must not hold a huge buffer for good.
  if (text.size() > kKeptBytes) parser_ = std::make_unique<Parser>();
  if (error == simdjson::SUCCESS) return Status::Ok();
  if (writer.bad_at() != nullptr) where = writer.bad_at();
  if (where >= text.data() && where <= text.data() + text.size()) {
    error_offset_ = static_cast<size_t>(where - text.data());
  }
  tokens_.clear();
  if (writer.too_deep()) {
    return LimitExceededError("JSON nested more than " + std::to_string(kMaxDepth) +
                              " levels deep");
  }
  return CorruptError(std::string(ErrorText(error)));
}

}  // namespace msprobe::formats
