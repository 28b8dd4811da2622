#include "python/bindings/later_tensor.h"

#include "python/bindings/tool_errors.h"
#include "tensor/dtype.h"

namespace msprobe::python {

Statistics ToStatistics(PyObject* numbers, DType dtype) {
  const auto number = [numbers](Py_ssize_t i) {
    return PyFloat_AsDouble(PyTuple_GET_ITEM(numbers, i));
  };
  Statistics s;
  s.defined = true;
  s.is_integral = tensor::IsIntegral(dtype);
  s.is_unsigned = dtype == DType::kUInt64;
  s.is_bool = dtype == DType::kBool;
  s.max = number(0);
  s.min = number(1);
  s.mean = number(2);
  s.norm = number(3);
  if (s.is_integral) {
    const auto whole = [numbers](Py_ssize_t i) {  // two's complement, also of what is unsigned
      return static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(numbers, i)));
    };
    s.max_int = whole(0);
    s.min_int = whole(1);
  }
  s.nan_count = static_cast<uint64_t>(number(4));
  s.inf_count = static_cast<uint64_t>(number(5));
  DropError();
  return s;
}

LaterTensor::LaterTensor(PyRef handle, PyObject* summary, PyObject* buffer, const TensorInfo& info,
                         SummaryMode mode, bool wants_contents)
    : handle_(std::move(handle)),
      summary_(summary),
      buffer_(buffer),
      dtype_(info.view.dtype),
      shape_(info.view.shape.begin(), info.view.shape.end()),
      size_(static_cast<uint64_t>(ElementCount(info.view.shape)) * ElementSize(info.view.dtype)),
      mode_(mode),
      wants_contents_(wants_contents),
      copies_(wants_contents || mode != SummaryMode::kStatistics) {}

bool LaterTensor::Summary(TensorSummary* summary, std::string* reason) {
  if (mode_ != SummaryMode::kStatistics) {
    const std::byte* data = Copied();
    if (data != nullptr) {
      *summary = Summarize({data, dtype_, false, false, shape_, {}}, mode_);
      return true;
    }
  } else {
    const PyRef answer = PyRef::Steal(PyObject_CallOneArg(summary_, handle_.get()));
    if (answer && PyTuple_Check(answer.get()) && PyTuple_GET_SIZE(answer.get()) == 6) {
      summary->statistics = ToStatistics(answer.get(), dtype_);
      return true;
    }
  }
  *reason = "not readable on its device: " + TheErrors().Take("reading what a device computed");
  return false;
}

const std::byte* LaterTensor::Contents() { return wants_contents_ ? Copied() : nullptr; }

const std::byte* LaterTensor::Copied() {
  if (data_ != nullptr || copied_) return data_;
  copied_ = PyRef::Steal(PyObject_CallOneArg(buffer_, handle_.get()));
  Py_buffer buffer;
  if (!copied_ || PyObject_GetBuffer(copied_.get(), &buffer, PyBUF_SIMPLE) != 0) {
    TheErrors().Take("reading what a device copied");
    return nullptr;
  }
  if (static_cast<uint64_t>(buffer.len) == size_) data_ = static_cast<const std::byte*>(buffer.buf);
  PyBuffer_Release(&buffer);  // the object holds the memory
  return data_;
}

}  // namespace msprobe::python
