#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/record_builder.h"
#include "msprobe/statistics.h"
#include "msprobe/tensor_view.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// What a framework says about one tensor. Reused from tensor to tensor; views point into the
/// tensor, into this object or into static text.
struct TensorInfo {
  static constexpr int kInlineDims = 12;

  std::string_view type;   ///< "torch.Tensor"
  std::string_view dtype;  ///< "torch.float32"
  TensorView view;         ///< `data` is null where the values cannot be read from memory
  bool requires_grad = false;
  bool on_device = false;   ///< there are values, elsewhere: ask the framework for them
  std::string_view reason;  ///< why there are no values; empty: nothing to explain

  int64_t dims[2 * kInlineDims];  ///< storage for shape and strides
  std::vector<int64_t> many_dims;
  std::string type_text, dtype_text, reason_text;  ///< storage for unusual ones
  std::vector<std::byte> bytes;  ///< storage for values that the framework had to fetch

  /// There are no values, as an error says.
  void Explain(std::string text) {
    reason_text = std::move(text);
    reason = reason_text;
  }
};

/// How the collector looks at the tensors of one framework.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual bool IsTensor(PyObject* object) const = 0;
  /// Never fails: what cannot be found out is left empty and explained in `info->reason`.
  virtual void Describe(PyObject* tensor, TensorInfo* info) = 0;
  /// Values of a tensor with `on_device`, reduced where they are. False: reason is set.
  virtual bool SummarizeOnDevice(PyObject* tensor, SummaryMode mode, TensorInfo* info,
                                 TensorSummary* summary) = 0;
  /// Copies the values of a tensor with `on_device` into info->bytes and points view at them.
  virtual bool Fetch(PyObject* tensor, TensorInfo* info) = 0;
  /// Starts to reduce or copy the values of a tensor with `on_device`, and does not wait for them.
  /// Null: the framework cannot; they have to be asked for at once.
  virtual std::shared_ptr<LaterValues> Start(PyObject* tensor, const TensorInfo& info,
                                             SummaryMode mode, bool wants_contents) = 0;
  /// Waits for all that Start() has begun, at once. False: that is not possible now.
  virtual bool Wait() = 0;
  /// Before values are read that a device may still be copying to this machine's memory.
  virtual void AwaitCopy(PyObject* tensor, TensorInfo* info) = 0;
  /// True for stand-ins without values that a compiler sends through the program: such calls are
  /// not calls of the program.
  virtual bool IsTracer(PyObject* tensor) const = 0;
};

/// A reader that asks a Python object for everything:
///   describe(tensor) -> (address, dtype text, shape, strides | None, requires_grad, reason | None)
///                       or (None, dtype text, shape, None, requires_grad, reason) without values;
///                       address -1: on a device
///   summarize(tensor) -> (max, min, mean, norm, nan_count, inf_count)
///   fetch(tensor) -> bytes-like, contiguous
/// either may give a text instead: why there are no values
/// and, for values that are asked for later (see msprobe/framework.py):
///   start(tensor, reduce, copy) -> handle | None, wait() -> bool, summary(handle) -> as summarize,
///   buffer(handle), await_copy(tensor) -> text | None
/// The tensors' Python types are given once.
class PythonTensorReader : public TensorReader {
 public:
  PythonTensorReader(PyRef types, PyRef describe, PyRef summarize, PyRef fetch, PyRef is_tracer);

  bool IsTensor(PyObject* object) const override;
  void Describe(PyObject* tensor, TensorInfo* info) override;
  bool SummarizeOnDevice(PyObject* tensor, SummaryMode mode, TensorInfo* info,
                         TensorSummary* summary) override;
  bool Fetch(PyObject* tensor, TensorInfo* info) override;
  std::shared_ptr<LaterValues> Start(PyObject* tensor, const TensorInfo& info, SummaryMode mode,
                                     bool wants_contents) override;
  bool Wait() override;
  void AwaitCopy(PyObject* tensor, TensorInfo* info) override;
  bool IsTracer(PyObject* tensor) const override;

  struct Later {
    PyRef start, wait, summary, buffer, await_copy;
  };
  /// Lives as long as the process.
  void UseLater(Later functions) { later_ = std::move(functions); }

 private:
  std::vector<PyRef> types_;
  Later later_;
  PyRef describe_, summarize_, fetch_, is_tracer_;
};

}  // namespace msprobe::python
