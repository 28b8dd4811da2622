#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "msprobe/record_builder.h"
#include "python/bindings/gradient_record.h"
#include "python/bindings/py_ref.h"
#include "python/bindings/tensor_reader.h"
#include "stats/summary_cache.h"

namespace msprobe::python {

/// The containers that a walk through a value is in. Values may hold what holds them, and what is
/// shared may be reached in more ways than anybody can walk.
class OpenContainers {
 public:
  /// False: do not go in.
  bool Enter(PyObject* container) {
    if (entered_ == kMost) return false;
    for (const PyObject* outer : open_) {
      if (outer == container) return false;
    }
    ++entered_;
    open_.push_back(container);
    return true;
  }
  void Leave() { open_.pop_back(); }
  void Clear() {
    open_.clear();
    entered_ = 0;
  }

 private:
  static constexpr uint32_t kMost = 100'000;  // in one call

  std::vector<const PyObject*> open_;
  uint32_t entered_ = 0;
};

/// Tensors in the order in which records name them: lists, tuples, dicts and dataclasses are looked
/// into. Held: looking may run code of the program, which may change what it looked into.
struct FlatTensors {
  std::vector<PyRef> tensors;
  OpenContainers open;
  void Clear() {
    tensors.clear();
    open.Clear();
  }
};

/// Checksums of an earlier dump: entry name → checksums of its tensors in order ("" for null).
using BenchChecksums = std::unordered_map<std::string, std::vector<std::string>>;

/// What is recorded of a tensor, for all records of a step.
struct ValueSettings {
  SummaryMode mode = SummaryMode::kStatistics;
  bool structure_only = false;
  const BenchChecksums* bench = nullptr;  ///< save only tensors whose checksum differs
  int64_t differences_left = -1;          ///< with bench: how many more are saved; -1: all
  bool defers = false;                    ///< values on a device are not waited for
};

/// How a gradient is seen when it is captured.
struct CaptureAs {
  enum class Layout : uint8_t { kAsItIs, kReshaped, kTransposed };
  uint64_t moment = 0;  ///< see stats::SummaryCache
  Layout layout = Layout::kAsItIs;
  PyObject* shape = nullptr;  ///< kReshaped: a tuple
};

/// Turns Python values into the values of a record. One per process, used under the GIL.
class ValueWriter {
 public:
  static constexpr int kMaxDepth = 20;

  /// `describe_value(object)` gives (type, json text) for objects of the framework that are shown
  /// with a value, or None.
  ValueWriter(TensorReader* reader, PyRef describe_value, PyRef size_type);

  TensorReader& reader() { return *reader_; }
  ValueSettings settings;

  /// Lets go of the program's classes.
  void EndStep();

  /// Before the values of one record: its name, and whether its tensors are saved.
  void BeginRecord(std::string_view name, bool save_tensors);
  /// The values of one record may come in several goes, with other records between them.
  uint32_t tensor_index() const { return Now().tensor_index; }
  void ResumeRecord(std::string_view name, bool save_tensors, uint32_t tensor_index);

  /// Of the tensors from here to the next record: see stats::SummaryCache.
  void AtMoment(uint64_t moment) { Now().moment = moment; }
  /// Whether a device may still be copying what is written from here to the next record: what comes
  /// out of a call, or is saved. A call could not read its arguments either.
  void AwaitCopies(bool awaits) { Now().awaits_copies = awaits; }
  /// Values may come from devices, also where none has been seen there.
  void ExpectDevices() { has_devices_ = true; }
  void Write(RecordBuilder* builder, std::string_view key, PyObject* value, int depth = 0);
  /// `data_name`: of the tensor file, if not the usual one.
  void WriteCaptured(RecordBuilder* builder, std::string_view key, const CapturedTensor& tensor,
                     std::string_view data_name = {});
  /// False, and nothing is captured, if seeing it so needs the framework.
  bool Capture(PyObject* tensor, bool save, const CaptureAs& as, CapturedTensor* captured);

  void Flatten(PyObject* value, FlatTensors* flat, int depth = 0) const;
  /// Whether what a call gives back is a tuple of its results, like torch.return_types.max; what is
  /// written as one value (lists, shapes, namedtuples) is one result.
  bool IsSeveral(PyObject* result) const;

  /// Of what an object keeps from call to call: tensors in `value` and in two levels of containers
  /// in it. Of a container that grows, those that came last.
  void FlattenNewest(PyObject* value, FlatTensors* flat) const;

  /// Objects of `type` are recorded with the tensor that is their attribute `name`.
  void AddHolder(PyRef type, PyRef name) {
    holders_.emplace_back(std::move(type), std::move(name));
  }

 private:
  /// Into Now().info; `awaits_copy`: a device may still be copying its values.
  void Describe(PyObject* tensor, bool awaits_copy);
  void WriteTensor(RecordBuilder* builder, std::string_view key, PyObject* tensor);
  void WriteSequence(RecordBuilder* builder, std::string_view key, PyObject* value, int depth);
  void WriteDict(RecordBuilder* builder, std::string_view key, PyObject* value, int depth);
  void WriteFields(RecordBuilder* builder, std::string_view key, PyObject* value, PyObject* fields,
                   int depth);
  void WriteOther(RecordBuilder* builder, std::string_view key, PyObject* value, int depth);
  /// `fields`: the members of a dict are its own, those of a dataclass its class's.
  void FlattenContainer(PyObject* value, PyObject* fields, FlatTensors* flat, int depth) const;
  void FlattenNewest(PyObject* value, FlatTensors* flat, int levels, int* left) const;
  PyObject* HeldName(PyObject* value) const;  // of the attribute; null: no holder
  /// The record and the tensor that this thread is at. Large tensors are read without the GIL, and
  /// the framework may give it away: other threads write records meanwhile.
  struct Place {
    TensorInfo info;
    OpenContainers open;
    std::string_view record;
    bool save_tensors = false;
    bool awaits_copies = false;
    uint32_t tensor_index = 0;
    uint64_t moment = 0;
  };
  static Place& Now();

  std::shared_ptr<LaterValues> Start(PyObject* tensor, bool save);             // info is filled
  bool Summarized(PyObject* tensor, uint64_t moment, TensorSummary* summary);  // info is filled
  TensorSummary SummarizeView(const TensorView& view, uint64_t moment);
  bool WantsContents(const TensorSummary& summary, bool has_summary);

  TensorReader* reader_;
  PyRef describe_value_, size_type_, fields_name_, named_fields_name_;
  std::vector<std::pair<PyRef, PyRef>> holders_;   // (type, name of its tensor)
  std::unordered_set<PyTypeObject*> plain_types_;  // types that describe_value knows nothing about
  stats::SummaryCache summaries_;
  bool has_devices_ = false;  // a tensor was on one: programs without pay for no more questions
};

}  // namespace msprobe::python
