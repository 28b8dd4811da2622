#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "msprobe/record_builder.h"
#include "msprobe/statistics.h"
#include "python/bindings/name_filter.h"
#include "python/bindings/py_ref.h"
#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// Everything that a record says about one tensor, kept until the record is written.
struct CapturedTensor {
  std::string type, dtype;
  std::vector<int64_t> shape;
  bool requires_grad = false;
  bool has_summary = false;
  TensorSummary summary;
  std::string reason;
  DType element_type = DType::kUnknown;
  bool has_contents = false;
  std::shared_ptr<dump::SharedContents> contents;  ///< null: no elements
  std::shared_ptr<LaterValues> later;              ///< in place of summary and contents
};

/// One gradient of a call: of an output (what flows in) or of an input (what flows out).
struct GradientSlot {
  uint32_t edges = 0;  ///< how many edges of the graph contribute
  bool has_value = false;
  CapturedTensor value;
  PyRef sum;  ///< several edges: our own tensor, summed in the order in which they fire
};

/// What one forward call waits for during backward. Held by the taps on the nodes of the graph
/// (they die with it) and by the running pass; holds neither tensors of the user nor nodes.
/// Counted by hand: lives under the GIL only.
struct GradientRecord {
  std::string name;                  ///< "Functional.relu.0.backward"
  GradientRecord* parent = nullptr;  ///< owned; the module call that this call is part of
  uint32_t input_count = 0;          ///< slots: inputs first, then outputs
  uint32_t output_count = 0;
  uint32_t edges = 0;  ///< subscriptions in all
  uint32_t left = 0;   ///< of the running pass
  int64_t task = -1;   ///< the running pass
  uint64_t step_id = 0;
  bool listed = false;   ///< a `list` filter takes it, and what runs inside it
  bool decided = false;  ///< the filters have been asked
  bool begun = false;    ///< a gradient has come
  NameFilter::Verdict verdict = NameFilter::Verdict::kRecord;
  bool wanted = false;         ///< in the running pass
  bool awaited = true;         ///< TensorHooks: not if all that it gives back is what it got
  uint32_t inputs_hooked = 0;  ///< TensorHooks: how many inputs have hooks; these come last
  uint32_t inputs_left = 0;    ///< of the running pass
  bool in_construct = false;
  bool emitted = false;
  bool saves_tensors = false;
  std::vector<GradientSlot> slots;
  uint32_t references = 1;

  static void Release(GradientRecord* record) {
    while (record != nullptr && --record->references == 0) {
      GradientRecord* parent = record->parent;
      delete record;
      record = parent;
    }
  }
};

class GradientRecordRef {
 public:
  GradientRecordRef() = default;
  explicit GradientRecordRef(GradientRecord* owned) : record_(owned) {}
  GradientRecordRef(const GradientRecordRef& other) : record_(other.record_) {
    if (record_ != nullptr) ++record_->references;
  }
  GradientRecordRef(GradientRecordRef&& other) noexcept
      : record_(std::exchange(other.record_, nullptr)) {}
  GradientRecordRef& operator=(GradientRecordRef other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~GradientRecordRef() { GradientRecord::Release(record_); }
  GradientRecord* get() const { return record_; }
  GradientRecord* operator->() const { return record_; }
  explicit operator bool() const { return record_ != nullptr; }

 private:
  GradientRecord* record_ = nullptr;
};

}  // namespace msprobe::python
