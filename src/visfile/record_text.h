#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "visfile/big_endian.h"

namespace msprobe::visfile {

/// A row as SQLite stores it: the types of the columns, and behind them their values. Appends both
/// to strings that may hold other rows already. Text columns only get text, and so on: nothing is
/// converted.
class RecordText {
 public:
  RecordText(std::string* types, std::string* values) : types_(*types), values_(*values) {}

  void Null() { types_.push_back(0); }

  void Text(std::string_view text) {
    values_.append(text);
    TextOfSize(text.size());
  }

  /// A text that somebody else appends to the values, or has appended already.
  void TextOfSize(size_t size) { AppendVarint(13 + 2 * size, &types_); }

  void Blob(std::string_view bytes) {
    values_.append(bytes);
    AppendVarint(12 + 2 * bytes.size(), &types_);
  }

  void Int(int64_t value) {
    if (value == 0 || value == 1) {
      types_.push_back(static_cast<char>(8 + value));
      return;
    }
    static constexpr struct {
      char type;
      size_t bytes;
    } kWidths[] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 6}, {6, 8}};
    for (const auto& [type, bytes] : kWidths) {
      const size_t unused = 64 - 8 * bytes;
      const auto shifted = static_cast<int64_t>(static_cast<uint64_t>(value) << unused);
      if (shifted >> unused != value) continue;
      types_.push_back(type);
      AppendBytes(static_cast<uint64_t>(value), bytes);
      return;
    }
  }

  /// For columns of type REAL; NaN is NULL.
  void Real(double value) {
    if (std::isnan(value)) return Null();
    types_.push_back(7);
    AppendBytes(std::bit_cast<uint64_t>(value), 8);
  }

 private:
  void AppendBytes(uint64_t value, size_t bytes) {
    char buffer[8];
    StoreBigEndian(value, bytes, buffer);
    values_.append(buffer, bytes);
  }

  std::string& types_;
  std::string& values_;
};

/// What stands in front of the types of a row: how long both are.
inline void AppendRecordHeader(size_t types_size, std::string* out) {
  AppendVarint(types_size + 1 < 0x80 ? types_size + 1 : types_size + 2, out);
}

}  // namespace msprobe::visfile
