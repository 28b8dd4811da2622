#include "formats/json/config_json.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "base/numbers.h"
#include "base/shortened.h"
#include "formats/json/json_scanner.h"
#include "formats/json/json_string.h"

namespace msprobe::formats {

struct ConfigText {
  std::string text;  ///< comments blanked out, so that offsets are those of the file; padded
  size_t size = 0;   ///< without the padding
  std::string path;
  std::string what;  ///< how errors call the text: "the file"
  JsonTape tape;
  std::vector<std::string> unescaped;  ///< by token; empty where nothing was escaped

  std::string_view Text(uint32_t index) const {
    return tape[index].escaped ? std::string_view(unescaped[index]) : tape[index].raw();
  }
};

namespace {

/// Puts spaces in place of comments.
void BlankComments(std::string* text, size_t size) {
  size_t i = 0;
  while (i < size) {
    const char c = (*text)[i];
    if (c == '"') {
      const JsonStringEnd end = FindJsonStringEnd({text->data(), size}, i + 1);
      if (end.position == std::string_view::npos) return;  // the parser will say so
      i = end.position + 1;
    } else if (c == '#' || (c == '/' && i + 1 < size && (*text)[i + 1] == '/')) {
      for (; i < size && (*text)[i] != '\n'; ++i) (*text)[i] = ' ';
    } else {
      ++i;
    }
  }
}

std::string Place(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  std::string place(", line ");
  place.append(std::to_string(line)).append(", column ");
  return place.append(std::to_string(before.size() - line_begin + 1));
}

Status PlacedError(const ConfigText& text, size_t offset, std::string_view fact,
                   std::string advice) {
  // Whoever reads the path knows what the error is about.
  std::string placed = text.path.empty() ? text.what + ": " : std::string();
  placed.append(fact).append(Place({text.text.data(), text.size}, offset));
  return InvalidArgumentError(std::move(placed), std::move(advice), text.path);
}

}  // namespace

JsonKind ConfigValue::kind() const { return text_->tape[index_].kind; }
std::string_view ConfigValue::raw() const { return text_->tape[index_].raw(); }

std::vector<std::string_view> ConfigValue::Keys() const {
  std::vector<std::string_view> keys;
  if (kind() != JsonKind::kObject) return keys;
  const JsonTape& tape = text_->tape;
  for (uint32_t i = index_ + 1; i < tape[index_].end; i = tape[i + 1].end) {
    const std::string_view key = text_->Text(i);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::optional<ConfigValue> ConfigValue::Find(std::string_view key) const {
  std::optional<ConfigValue> found;
  if (kind() != JsonKind::kObject) return found;
  const JsonTape& tape = text_->tape;
  for (uint32_t i = index_ + 1; i < tape[index_].end; i = tape[i + 1].end) {
    if (text_->Text(i) == key) found = ConfigValue(text_, i + 1);
  }
  return found;
}

Result<std::vector<ConfigValue>> ConfigValue::List(std::string_view name) const {
  if (kind() != JsonKind::kArray) return TypeError(name, "a list");
  std::vector<ConfigValue> elements;
  const JsonTape& tape = text_->tape;
  for (uint32_t i = index_ + 1; i < tape[index_].end; i = tape[i].end) {
    elements.emplace_back(text_, i);
  }
  return elements;
}

Result<std::string_view> ConfigValue::String(std::string_view name) const {
  if (kind() != JsonKind::kString) return TypeError(name, "a string");
  return text_->Text(index_);
}

Result<bool> ConfigValue::Bool(std::string_view name) const {
  if (kind() != JsonKind::kTrue && kind() != JsonKind::kFalse) {
    return TypeError(name, "true or false");
  }
  return kind() == JsonKind::kTrue;
}

Result<int64_t> ConfigValue::Int(std::string_view name) const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(raw().data(), raw().data() + raw().size(), value);
  if (kind() != JsonKind::kNumber || error != std::errc() || end != raw().data() + raw().size()) {
    return TypeError(name, "a whole number");
  }
  return value;
}

Result<double> ConfigValue::Number(std::string_view name) const {
  const std::optional<double> value = base::ParseDouble(raw());
  if (kind() != JsonKind::kNumber || !value) return TypeError(name, "a number");
  return *value;
}

Status ConfigValue::TypeError(std::string_view name, std::string_view wanted) const {
  std::string fact(name);
  return Error(fact.append(" must be ").append(wanted));
}

Status ConfigValue::Error(std::string_view fact, std::string advice) const {
  const auto offset = static_cast<size_t>(raw().data() - text_->text.data());
  // Strings stand without their opening quote in the tape.
  const size_t quote = kind() == JsonKind::kString ? 1 : 0;
  return PlacedError(*text_, offset - quote, fact, std::move(advice));
}

ConfigJson::ConfigJson(std::unique_ptr<ConfigText> text) : text_(std::move(text)) {}
ConfigJson::ConfigJson(ConfigJson&&) noexcept = default;
ConfigJson& ConfigJson::operator=(ConfigJson&&) noexcept = default;
ConfigJson::~ConfigJson() = default;

Result<ConfigJson> ConfigJson::Parse(std::string text, std::string path, std::string what) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  auto config = std::make_unique<ConfigText>();
  config->text = std::move(text);
  if (config->text.starts_with(kByteOrderMark)) config->text.erase(0, kByteOrderMark.size());
  config->size = config->text.size();
  config->path = std::move(path);
  config->what = std::move(what);
  config->text.append(base::MappedFile::kPadding, '\0');
  BlankComments(&config->text, config->size);
  const std::string_view json(config->text.data(), config->size);
  if (SkipJsonSpace(json, 0) == json.size()) {
    return InvalidArgumentError(config->what + " is empty", "write a JSON object", config->path);
  }
  const Status status = config->tape.Parse(json);
  if (!status.ok()) {
    return PlacedError(*config, config->tape.error_offset(), status.fact(),
                       "correct " + config->what + "; it must be JSON, # and // begin comments");
  }
  config->unescaped.resize(config->tape.tokens().size());
  for (uint32_t i = 0; i < config->unescaped.size(); ++i) {
    const JsonToken& token = config->tape[i];
    if (!token.escaped || AppendUnescaped(token.raw(), &config->unescaped[i])) continue;
    return PlacedError(*config, static_cast<size_t>(token.begin - config->text.data()),
                       "an escape that JSON does not know", "write a backslash as \\\\");
  }
  return ConfigJson(std::move(config));
}

Status ConfigJson::CheckKeys() const {
  const JsonTape& tape = text_->tape;
  std::unordered_set<std::string_view> keys;
  for (uint32_t object = 0; object < tape.tokens().size(); ++object) {
    if (tape[object].kind != JsonKind::kObject) continue;
    keys.clear();
    for (uint32_t i = object + 1; i < tape[object].end; i = tape[i + 1].end) {
      const std::string_view key = text_->Text(i);
      if (keys.insert(key).second) continue;
      return ConfigValue(text_.get(), i)
          .Error("the key '" + base::Shortened(key, 100) + "' stands twice",
                 "leave one of the two out");
    }
  }
  return Status::Ok();
}

Result<ConfigJson> ConfigJson::Read(const std::string& path) {
  MSPROBE_ASSIGN_OR_RETURN(std::string text, base::ReadSmallFile(path, kMaxBytes));
  return Parse(std::move(text), path);
}

}  // namespace msprobe::formats
