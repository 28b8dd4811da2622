#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe {

/// One input, output or parameter of a recorded call; lists and dictionaries are flattened.
struct DumpValue {
  enum class Section : uint8_t { kInput, kOutput, kParameter };

  Section section = Section::kInput;
  std::string key;    ///< "input.0", "input.dim", "output.0.1", "parameters.weight"
  std::string type;   ///< "torch.Tensor", "int" …; empty: null
  std::string value;  ///< of scalars, as Python's str() shows it
  // Only of tensors:
  bool is_tensor = false;
  DType dtype = DType::kUnknown;
  std::string dtype_text;  ///< as it was recorded, "torch.bfloat16"
  std::vector<int64_t> shape;
  std::optional<double> max, min, mean, norm;  ///< absent: not recorded; may be NaN or infinite
  std::string md5;                             ///< empty: no checksum
  std::string data_name;                       ///< empty: the values were not saved
};

/// One entry of dump.json.
struct DumpEntry {
  std::string name;                ///< "Module.encoder.Encoder.forward.0"
  std::vector<DumpValue> values;   ///< inputs, outputs, parameters
  std::vector<std::string> stack;  ///< frames, innermost first; empty: not recorded
};

/// Reads the dump of one rank in one step. Files are mapped, entries are parsed when they are asked
/// for. Thread-safe.
class DumpReader {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  /// `directory` holds dump.json: <dump_path>/step<N>/rank<R>. Missing stack.json and
  /// construct.json are fine; level debug has debug.json instead. Errors: NotFound,
  /// InvalidArgument, Corrupt, Unsupported (the task), LimitExceeded, Io.
  static Result<std::unique_ptr<DumpReader>> Open(const std::string& directory);
  DumpReader(const DumpReader&) = delete;
  DumpReader& operator=(const DumpReader&) = delete;
  ~DumpReader();

  /// What was odd while it was opened and did not stop it: a file that a crash cut off (its last
  /// whole entries are here), names that stand twice. Empty: nothing.
  const std::vector<Status>& warnings() const;

  std::string_view task() const;       ///< "statistics", "tensor" …
  std::string_view level() const;      ///< "L0", "L1", "mix" …
  std::string_view framework() const;  ///< "pytorch", "mindspore"; may be empty

  size_t size() const;
  /// In the order of dump.json. Valid as long as the reader.
  std::string_view name(size_t entry) const;
  size_t Find(std::string_view name) const;  ///< kNone: there is no such entry
  /// Errors: InvalidArgument (there is no such entry), Corrupt and LimitExceeded (this entry is
  /// damaged; others may be fine).
  Result<DumpEntry> Read(size_t entry) const;

  /// The values of a tensor whose file was saved: a view that holds its memory.
  class SavedTensor {
   public:
    SavedTensor(SavedTensor&&) noexcept;
    SavedTensor& operator=(SavedTensor&&) noexcept;
    ~SavedTensor();
    TensorView view() const;

   private:
    friend class DumpReader;
    struct Impl;
    explicit SavedTensor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  /// Errors: NotFound, InvalidArgument (no file that may be read), Io, Corrupt, Unsupported,
  /// LimitExceeded.
  Result<SavedTensor> OpenTensor(const DumpValue& value) const;

 private:
  class Impl;
  explicit DumpReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace msprobe
