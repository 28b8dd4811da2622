#include "viewer/request_query.h"

#include <charconv>

namespace msprobe::viewer {

namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool Decode(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out->push_back(' ');
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return false;
      const std::optional<int> high = HexDigit(text[i + 1]);
      const std::optional<int> low = HexDigit(text[i + 2]);
      if (!high || !low) return false;
      out->push_back(static_cast<char>(*high * 16 + *low));
      i += 2;
    } else {
      out->push_back(text[i]);
    }
  }
  return true;
}

}  // namespace

Result<RequestQuery> RequestQuery::Parse(std::string_view text) {
  if (text.size() > kMaxBytes) return LimitExceededError("the request's query is too long");
  RequestQuery query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto& [name, value] = query.parameters_.emplace_back();
    if (!Decode(pair.substr(0, equals), &name) ||
        !Decode(pair.substr(std::min(equals + 1, pair.size())), &value)) {
      return InvalidArgumentError("the request's query has a broken percent escape");
    }
  }
  return query;
}

std::optional<std::string_view> RequestQuery::Find(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::string_view> RequestQuery::Text(std::string_view name) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) {
    return InvalidArgumentError("the request lacks the parameter '" + std::string(name) + "'");
  }
  return *value;
}

Result<int64_t> RequestQuery::Int(std::string_view name, int64_t fallback, int64_t min,
                                  int64_t max) const {
  if (!Find(name)) return fallback;
  return RequiredInt(name, min, max);
}

Result<int64_t> RequestQuery::RequiredInt(std::string_view name, int64_t min, int64_t max) const {
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view text, Text(name));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return InvalidArgumentError("the parameter '" + std::string(name) + "' must be a number from " +
                                std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

Result<Page> PageOf(const RequestQuery& query) {
  Page page;
  MSPROBE_ASSIGN_OR_RETURN(page.offset, query.Int("offset", 0, 0, INT32_MAX));
  MSPROBE_ASSIGN_OR_RETURN(page.limit, query.Int("limit", 200, 0, kMaxPage));
  return page;
}

}  // namespace msprobe::viewer
