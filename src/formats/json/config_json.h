#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tape.h"
#include "msprobe/status.h"

namespace msprobe::formats {

struct ConfigText;

/// A value of a configuration file. Valid as long as the ConfigJson it comes from.
class ConfigValue {
 public:
  ConfigValue(const ConfigText* text, uint32_t index) : text_(text), index_(index) {}

  JsonKind kind() const;
  bool is_null() const { return kind() == JsonKind::kNull; }

  /// Keys of an object in file order; of equal keys one, with the value of the last.
  std::vector<std::string_view> Keys() const;
  /// Value of a key of an object; nullopt if this has no such key or is no object.
  std::optional<ConfigValue> Find(std::string_view key) const;

  /// `name` is what error texts call the value: InvalidArgument "<name> must be a string, line 3,
  /// column 5".
  Result<std::vector<ConfigValue>> List(std::string_view name) const;
  Result<std::string_view> String(std::string_view name) const;
  Result<bool> Bool(std::string_view name) const;
  Result<int64_t> Int(std::string_view name) const;
  Result<double> Number(std::string_view name) const;

  /// An error about this value: `fact` with the line and column, and the path of the file.
  Status Error(std::string_view fact, std::string advice = {}) const;

 private:
  std::string_view raw() const;
  Status TypeError(std::string_view name, std::string_view wanted) const;

  const ConfigText* text_;
  uint32_t index_;
};

/// A small hand-written JSON file in which # and // begin comments.
class ConfigJson {
 public:
  static constexpr size_t kMaxBytes = size_t{16} << 20;

  ConfigJson(ConfigJson&&) noexcept;
  ConfigJson& operator=(ConfigJson&&) noexcept;
  ~ConfigJson();

  /// `path` is for error texts; where there is none they begin with `what`, which is what they call
  /// the text. Errors: InvalidArgument, with line and column.
  static Result<ConfigJson> Parse(std::string text, std::string path,
                                  std::string what = "the file");
  /// Errors: also NotFound, Io, LimitExceeded (more than kMaxBytes).
  static Result<ConfigJson> Read(const std::string& path);

  /// Error that names a key that stands twice in one object, of which only the last is read.
  Status CheckKeys() const;

  ConfigValue root() const { return {text_.get(), 0}; }

 private:
  explicit ConfigJson(std::unique_ptr<ConfigText> text);
  std::unique_ptr<ConfigText> text_;
};

}  // namespace msprobe::formats
