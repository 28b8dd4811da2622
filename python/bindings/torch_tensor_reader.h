#pragma once

#include <memory>

#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// Reads plain torch tensors through the C table that torch publishes for tensor exchange
/// (`Tensor.__dlpack_c_exchange_api__`), without linking to torch. Everything else, and versions
/// of torch without the table, goes through the Python functions.
class TorchTensorReader : public PythonTensorReader {
 public:
  struct Types {
    PyRef tensor, tensor_base, parameter;
    bool use_exchange_api = true;
    bool force_device_path = false;  ///< treat memory of the CPU like that of a device
  };
  TorchTensorReader(Types torch, PyRef describe, PyRef summarize, PyRef fetch, PyRef is_tracer);

  bool IsTensor(PyObject* object) const override {
    return Py_TYPE(object) == tensor_ || Py_TYPE(object) == parameter_ ||
           PyType_IsSubtype(Py_TYPE(object), tensor_);
  }
  void Describe(PyObject* tensor, TensorInfo* info) override;
  bool IsTracer(PyObject* tensor) const override {
    return Py_TYPE(tensor) != tensor_ && Py_TYPE(tensor) != parameter_ &&
           PythonTensorReader::IsTracer(tensor);
  }

 private:
  bool DescribeFast(PyObject* tensor, TensorInfo* info) const;
  /// Whether the values are kept negated or conjugated.
  void TakeFlags(PyObject* tensor, TensorInfo* info) const;
  bool StorageHolds(PyObject* tensor, const TensorInfo& info) const;

  Types torch_;
  PyTypeObject* tensor_;
  PyTypeObject* parameter_;
  const void* exchange_api_ = nullptr;
  getter requires_grad_ = nullptr;
  void* requires_grad_closure_ = nullptr;
  PyCFunction is_negative_ = nullptr;
  PyCFunction is_conjugate_ = nullptr;
  PyCFunction storage_offset_ = nullptr;
};

}  // namespace msprobe::python
