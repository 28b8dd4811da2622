#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/string_arena.h"
#include "msprobe/tensor_view.h"

namespace msprobe::dump {

/// Where in a record a value stands.
enum class Section : uint8_t { kInput, kOutput, kParameter };

enum class ValueKind : uint8_t {
  kNull,  ///< null: no gradient flows, no value given
  kTensor,
  kScalar,  ///< int, float, bool, str, slice, dtype … : {"type", "value"}
  /// {"type": "<class>"}: known by its class only. Members besides, as a process group's
  /// "group_ranks", follow as values of their own: "input.2.group_ranks", list, "[0, 1]".
  kObject,
};

enum class Flag : uint8_t { kAbsent, kFalse, kTrue };

/// A recorded statistic: absent, null, or a number (possibly NaN or infinite).
struct Statistic {
  enum class State : uint8_t { kAbsent, kNull, kNumber } state = State::kAbsent;
  double number = 0;
  std::string_view text;  ///< as written in dump.json: "1.5", "NaN", "true"
  bool has_number() const { return state == State::kNumber; }
};

/// One leaf of a record's inputs, outputs or parameters, lists and objects flattened.
struct Value {
  Section section = Section::kInput;
  ValueKind kind = ValueKind::kNull;
  /// Place inside the node: "input.0", "input.9.0", "input.dim", "output.0",
  /// "parameters.weight"; for parameters_grad records "weight".
  std::string_view key;
  std::string_view type;        ///< "torch.Tensor", "int", …
  std::string_view value_text;  ///< scalars: the value as Python's str() shows it
  std::string_view dtype_text;  ///< tensors: as written
  DType dtype = DType::kUnknown;
  std::string_view shape_text;  ///< tensors: "[4, 8]"
  uint32_t shape_begin = 0;     ///< tensors: into Record::extents
  uint32_t shape_size = 0;
  Statistic max, min, mean, norm;
  uint64_t nan_count = 0;  ///< elements; written where they are not 0, and not by every tool
  uint64_t inf_count = 0;
  Flag requires_grad = Flag::kAbsent;
  std::string_view data_name;  ///< empty: no tensor file
  std::string_view md5;        ///< empty: no checksum
};

enum class Direction : uint8_t { kForward, kBackward, kParametersGrad, kOther };

/// One entry of dump.json's "data", parsed. Views point into the mapped file or into `arena`; a
/// Record is reused from entry to entry, so nothing of it outlives the next read.
struct Record {
  /// False: whoever reads needs the statistics only as text; numbers stay 0 where they stand in
  /// dump.json as such. Set it before reading.
  bool parse_numbers = true;
  Direction direction = Direction::kOther;
  std::vector<Value> values;  ///< in file order: inputs (args, then kwargs), outputs, parameters
  std::vector<int64_t> extents;
  bool is_distributed = false;
  base::StringArena arena;
};

}  // namespace msprobe::dump
