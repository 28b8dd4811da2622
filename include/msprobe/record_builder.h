#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/statistics.h"
#include "msprobe/tensor_view.h"

namespace msprobe {

namespace dump {
struct SharedContents;
struct TensorFile;
}  // namespace dump

/// Values of a tensor that a device is still computing or copying.
class LaterValues {
 public:
  virtual ~LaterValues() = default;
  /// Waits for them. False: there are none, and `reason` says why.
  virtual bool Summary(TensorSummary* summary, std::string* reason) = 0;
  /// Waits for what is to be saved, in C order; valid while this object lives. Null: nothing is.
  virtual const std::byte* Contents() = 0;
  virtual DType dtype() const = 0;     ///< of the contents
  virtual uint64_t bytes() const = 0;  ///< memory that is held meanwhile
};

/// What a record says about one tensor.
struct TensorDescription {
  std::string_view type = "torch.Tensor";
  std::string_view dtype;  ///< the framework's spelling: "torch.float32", "Float32"
  std::span<const int64_t> shape;
  /// Values as Summarize() gave them; null: the record holds nulls (meta, fake, no storage).
  const TensorSummary* summary = nullptr;
  SummaryMode mode = SummaryMode::kStatistics;
  bool structure_only = false;  ///< task structure: neither statistics nor checksum
  std::optional<bool> requires_grad;
  std::string_view reason;  ///< why there are no values; empty: nothing to explain
  /// Values to save in a tensor file; null: none. They are copied before Tensor() returns, once
  /// for as long as equal ones wait for being written.
  const TensorView* contents = nullptr;
  /// In place of the data of `contents`: its values, which were copied earlier.
  std::shared_ptr<dump::SharedContents> taken;
  /// File name without extension; empty: "<entry>.<place>", e.g.
  /// "Functional.relu.0.forward.input.0". Too long names and '/' are replaced by a hash.
  std::string_view data_name;
  /// In place of `summary`, `reason` and `contents`: see RecordBuilder::Settle().
  std::shared_ptr<LaterValues> later;
};

/// Takes down one entry of dump.json; the writing thread makes text of it. Reused from entry to
/// entry, one per thread:
///
///   builder.Begin("Functional.relu.0.forward");
///   builder.BeginObject();
///   builder.BeginList("input_args");
///   builder.Tensor({}, description);
///   builder.End();
///   builder.BeginObject("input_kwargs");
///   builder.End();
///   builder.BeginList("output");
///   builder.Tensor({}, description);
///   builder.End();
///   builder.End();
///   writer->Add(&builder);
///
/// `key` names a value inside an object and is ignored inside a list. Any order of calls gives
/// valid JSON: containers left open are closed by Add(), superfluous End() calls are ignored, and
/// containers nested deeper than kMaxDepth become null. Begin() drops a record left unfinished.
/// Not thread-safe. Strings need not outlive the call; bytes that are not UTF-8 are replaced.
class RecordBuilder {
 public:
  static constexpr int kMaxDepth = 62;

  RecordBuilder();
  RecordBuilder(RecordBuilder&&) noexcept;
  RecordBuilder& operator=(RecordBuilder&&) noexcept;
  ~RecordBuilder();

  void Begin(std::string_view name);

  void BeginObject(std::string_view key = {});
  void BeginList(std::string_view key = {});
  void End();

  void Null(std::string_view key);
  void Tensor(std::string_view key, const TensorDescription& tensor);

  /// {"type": type, "value": value}
  void Int(std::string_view key, int64_t value, std::string_view type = "int");
  void Double(std::string_view key, double value, std::string_view type = "float");
  void Bool(std::string_view key, bool value, std::string_view type = "bool");
  void String(std::string_view key, std::string_view value, std::string_view type = "str");
  /// `json` is the value as one line of valid JSON: "[0, 3, null]", a big integer.
  void Scalar(std::string_view key, std::string_view type, std::string_view json);
  /// {"type": type}: an object that is not looked into.
  void Object(std::string_view key, std::string_view type);
  /// The value as it stands: one line of valid JSON without {"type", …} around it.
  void Json(std::string_view key, std::string_view json);

  /// Writes what was given as TensorDescription::later to its place, waiting for it where it has
  /// not come yet. Add() does so, too.
  void Settle();
  bool settled() const { return later_.empty(); }
  /// What all that is not settled holds.
  uint64_t later_bytes() const;

  /// Empty between Add() and Begin().
  std::string_view name() const;
  /// About how many bytes the text of the entry takes, without making it.
  size_t size() const;
  /// The entry so far, `"name": value`, indented as it stands in dump.json.
  std::string text() const;

 private:
  friend class DumpWriter;
  struct Level {
    bool is_list;
    uint32_t index;        // of the next element
    uint32_t place_begin;  // length of place_ outside of this container
  };
  /// A tensor whose values come later, and where on the tape it then stands.
  struct Later {
    std::shared_ptr<LaterValues> values;
    size_t at;
    std::string key;
    std::string type;
    std::string dtype;
    std::vector<int64_t> shape;
    SummaryMode mode;
    bool structure_only;
    std::optional<bool> requires_grad;
    std::string data_name;
  };

  void BeginContainer(std::string_view key, bool is_list);
  bool TakesValue();
  void EnterPlace(std::string_view key);
  void Promise(std::string_view key, const TensorDescription& tensor);
  bool Contents(std::string_view key, const TensorDescription& tensor);
  void Complete(std::string_view extension);
  void Reset();

  std::string tape_;  // see dump/record_tape.h
  std::string name_;
  std::string place_;  // ".input.0": where the next value stands, for the names of tensor files
  std::vector<Level> levels_;
  std::vector<dump::TensorFile> files_;
  std::vector<Later> later_;
  uint64_t files_without_memory_ = 0;
  int skipped_depth_ = 0;  // containers open beyond kMaxDepth
  bool begun_ = false;
  bool has_value_ = false;
  bool complete_ = false;
};

}  // namespace msprobe
