#pragma once

#include <vector>

#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// (max, min, mean, norm, number of NaN, number of infinite values) of a tensor of `dtype`.
Statistics ToStatistics(PyObject* numbers, DType dtype);

/// A tensor of which a device computes or copies what is recorded. Used under the GIL.
class LaterTensor : public LaterValues {
 public:
  /// `summary`, `buffer`: what to ask the framework with `handle`; they live on.
  LaterTensor(PyRef handle, PyObject* summary, PyObject* buffer, const TensorInfo& info,
              SummaryMode mode, bool wants_contents);

  bool Summary(TensorSummary* summary, std::string* reason) override;
  const std::byte* Contents() override;
  DType dtype() const override { return dtype_; }
  uint64_t bytes() const override { return copies_ ? size_ : 64; }

 private:
  const std::byte* Copied();

  PyRef handle_;
  PyObject *summary_, *buffer_;
  PyRef copied_;
  const std::byte* data_ = nullptr;
  DType dtype_;
  std::vector<int64_t> shape_;
  uint64_t size_;
  SummaryMode mode_;
  bool wants_contents_, copies_;
};

/// What is saved for another entry, and only told in this one.
class LaterSummary : public LaterValues {
 public:
  explicit LaterSummary(std::shared_ptr<LaterValues> values) : values_(std::move(values)) {}

  bool Summary(TensorSummary* summary, std::string* reason) override {
    return values_->Summary(summary, reason);
  }
  const std::byte* Contents() override { return nullptr; }
  DType dtype() const override { return values_->dtype(); }
  uint64_t bytes() const override { return values_->bytes(); }

 private:
  std::shared_ptr<LaterValues> values_;
};

}  // namespace msprobe::python
