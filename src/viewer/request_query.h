#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::viewer {

/// The decoded parameters of a request. Of equal names the first counts.
class RequestQuery {
 public:
  /// Errors: InvalidArgument (a broken percent escape, more than kMaxBytes).
  static Result<RequestQuery> Parse(std::string_view text);

  static constexpr size_t kMaxBytes = 64 << 10;

  std::optional<std::string_view> Find(std::string_view name) const;
  /// Errors: InvalidArgument that names the parameter.
  Result<std::string_view> Text(std::string_view name) const;
  /// A whole number between `min` and `max`; `fallback` if the parameter is absent.
  Result<int64_t> Int(std::string_view name, int64_t fallback, int64_t min, int64_t max) const;
  Result<int64_t> RequiredInt(std::string_view name, int64_t min, int64_t max) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// The part of a list that a request asks for.
struct Page {
  int64_t offset = 0;
  int64_t limit = 0;
};
inline constexpr int64_t kMaxPage = 1000;
Result<Page> PageOf(const RequestQuery& query);

}  // namespace msprobe::viewer
