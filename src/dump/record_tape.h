#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dump/record_tensor_file.h"
#include "msprobe/record_builder.h"

namespace msprobe::dump {

/// Notes the values of one record on a tape of bytes, which costs a fraction of making text of
/// them. The writing thread does that: RenderTape(). Calls must nest rightly.
class TapeWriter {
 public:
  /// `tape` is added to.
  explicit TapeWriter(std::string* tape) : tape_(*tape) {}

  void Name(std::string_view name) { Text(name); }
  void Begin(bool is_list, std::string_view key);
  void End();
  /// `json` stands as it is.
  void Json(std::string_view key, std::string_view json);
  /// {"type": type, "value": value}
  void Int(std::string_view key, std::string_view type, int64_t value);
  void Double(std::string_view key, std::string_view type, double value);
  void String(std::string_view key, std::string_view type, std::string_view value);
  void Scalar(std::string_view key, std::string_view type, std::string_view json);
  void Object(std::string_view key, std::string_view type);
  /// `file`: index of the tensor's file among those of the record, if it has one.
  void Tensor(std::string_view key, const TensorDescription& tensor, std::optional<uint32_t> file);

 private:
  enum class Op : uint8_t {
    kBeginObject,
    kBeginList,
    kEnd,
    kJson,
    kInt,
    kDouble,
    kString,
    kScalar,
    kObject,
    kTensor,
  };
  struct TensorHead;
  friend class TapeReader;

  template <class T>
  void Put(const T& value) {
    tape_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    tape_.append(text);
  }

  std::string& tape_;
};

/// Appends the entry `"name": value` as it stands in dump.json; gives the size of the name with its
/// quotes. What the tape leaves open is closed. Files that were dropped are not named.
size_t RenderTape(std::string_view tape, std::span<const TensorFile> files, std::string* out);

std::string_view TapeName(std::string_view tape);

/// About how long the text of a tape is.
constexpr size_t RenderedSize(size_t tape_size) { return 2 * tape_size + 64; }

}  // namespace msprobe::dump
